// Mermaid's parser in V8 without a browser: before the library, what it touches of one; then
// `parseDiagram(text)`, a promise of the library's own message, which is empty when it can draw.
(function (root) {
  "use strict";
  function nothing() {}
  function Element() {}
  function Url(text) {
    var parts = /^([a-z][a-z0-9+.-]*:)(?:\/\/([^\/?#]*))?([^]*)$/i.exec(String(text));
    if (!parts) { throw new TypeError("Invalid URL"); }
    this.protocol = parts[1];
    this.hostname = parts[2] || "";
    this.toString = function () {
      return this.protocol + (parts[2] === undefined ? "" : "//" + this.hostname) + parts[3];
    };
  }
  Url.canParse = function (text) {
    try { return Boolean(new Url(text)); } catch (error) { return false; }
  };
  root.window = root.self = root;
  root.addEventListener = root.removeEventListener = nothing;
  root.Element = Element;
  root.URL = Url;
  // DOMPurify gives strings back unchanged when the document cannot create documents: parsing
  // needs no more.
  root.document = {
    nodeType: 9,
    currentScript: null,
    implementation: {},
    addEventListener: nothing,
    createElement: function () { return new Element(); }
  };
  root.console = {};
  ["log", "debug", "info", "warn", "error", "trace"].forEach(function (name) {
    root.console[name] = nothing;
  });
  root.structuredClone = function (value) { return JSON.parse(JSON.stringify(value)); };
  // A dependency makes these when it loads and never uses them to parse.
  root.TextEncoder = root.TextDecoder = nothing;

  root.parseDiagram = function (text) {
    return root.mermaid.parse(text).then(function (parsed) {
      // Dates of a gantt chart are only read when it is drawn.
      if (parsed.diagramType !== "gantt") { return ""; }
      return root.mermaid.mermaidAPI.getDiagramFromText(text).then(function (diagram) {
        diagram.db.getTasks();
        return "";
      });
    }).catch(function (error) { return String(error && error.message || error); });
  };
})(globalThis);
