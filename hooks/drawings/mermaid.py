"""Run mermaid's parser in V8 (mini-racer), in a process of its own.

Run as a script, `python mermaid_engine.py LIBRARY TIMEOUT_S`: reads a JSON list of texts from
standard input and prints a line of JSON for each: null when it parses, else what mermaid said.
Parsing goes on after the call returned, where V8 cannot be interrupted; so a text that takes
longer than the timeout ends the process with the status `HANGS`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

HANGS = 3
"""Exit status: the text after the last answer did not finish."""

# What mermaid.parse touches of a browser. DOMPurify gives strings back unchanged when the
# document cannot create documents (`isSupported` is then false): parsing needs no more.
DRIVER = r"""
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

  // Mermaid copies its configuration, key by key, whenever it reads one of them: most of the time
  // of a parse. It freezes the defaults when it loads; two thirds of them are colours and the
  // sizes of one kind's pictures, which parsing does not ask for.
  var freeze = Object.freeze;
  Object.freeze = function (value) {
    if (value && value.themeVariables && value.c4) { value.themeVariables = {}; value.c4 = {}; }
    return freeze(value);
  };
})(globalThis);

// Mermaid takes front matter, directives and comments out before it parses and counts lines in
// what is left. `remaining` removes the same with the same patterns (preprocessDiagram in
// mermaid 11) and remembers the line that each character came from.
(function (root) {
  "use strict";
  var FRONT_MATTER = /^([^\S\n\r]*)-{3}\s*[\n\r](.*?)[\n\r]\1-{3}\s*[\n\r]+/s;
  var DIRECTIVE =
    /%{2}{\s*(?:(\w+)\s*:|(\w+))\s*(?:(\w+)|((?:(?!}%{2}).|\r?\n)*))?\s*(?:}%{2})?/gi;
  var COMMENT = /^\s*%%(?!{)[^\n]+\n?/gm;
  var BLANK_LINES = /\n(?=\n)/g;

  function remaining(text) {
    var lines = [], line = 1;
    for (var i = 0; i < text.length; i++) {
      lines.push(line);
      if (text.charAt(i) === "\n") { line++; }
    }
    function cut(pattern) {
      var kept = [];
      text = text.replace(pattern, function (match) {
        var at = arguments[arguments.length - 2];
        if (typeof at !== "number") { at = arguments[arguments.length - 3]; }
        for (var k = 0; k < match.length; k++) { lines[at + k] = 0; }
        return "";
      });
      lines.forEach(function (number) { if (number) { kept.push(number); } });
      lines = kept;
    }
    cut(FRONT_MATTER);
    cut(DIRECTIVE);
    cut(COMMENT);
    cut(/^\s+/);
    // The sankey parser drops blank lines before it counts.
    if (/^sankey/.test(text)) { cut(BLANK_LINES); }
    var starts = [];
    text.split("\n").reduce(function (at, part) {
      starts.push(at < lines.length ? lines[at] : 0);
      return at + part.length + 1;
    }, 0);
    return starts;
  }

  function place(items) {
    return (items || []).map(function (item) {
      var token = item.token || item;
      return {
        message: String(item.message),
        line: token.startLine || token.line || 0,
        column: token.startColumn || token.column || 0
      };
    });
  }

  function failure(text, error) {
    var hash = error && error.hash || {}, result = error && error.result || {};
    return JSON.stringify({
      message: String(error && error.message || error),
      starts: remaining(text),
      token: typeof hash.text === "string" ? hash.text : "",
      expected: hash.expected || [],
      after: hash.loc ? hash.loc.last_column : 0,
      problems: place(result.lexerErrors).concat(place(result.parserErrors))
    });
  }

  root.checkDiagram = function (text) {
    return root.mermaid.parse(text).then(function (parsed) {
      // Dates of a gantt chart are only read when it is drawn.
      if (parsed.diagramType !== "gantt") { return "null"; }
      return root.mermaid.mermaidAPI.getDiagramFromText(text).then(function (diagram) {
        diagram.db.getTasks();
        return "null";
      });
    }).catch(function (error) { return failure(text, error); });
  };
})(globalThis);
"""


def main(library: Path, timeout_s: float) -> None:
    """Answer for every text on standard input."""
    # Only needed in the process of its own.
    from py_mini_racer import JSEvalException, JSPromise, MiniRacer

    texts = json.loads(sys.stdin.buffer.read())
    # Closed before the interpreter ends: its thread would wait for itself afterwards.
    with MiniRacer() as engine:
        engine.eval(DRIVER)
        try:
            engine.eval(library.read_text(encoding="utf-8"))
        except JSEvalException as error:
            sys.exit(str(error).strip().split("\n", 1)[0][:200])
        if engine.eval("typeof mermaid === 'object' && typeof mermaid.parse") != "function":
            sys.exit("the library defines no global 'mermaid' with 'parse'")
        for text in texts:
            watchdog = threading.Timer(timeout_s, os._exit, [HANGS])
            watchdog.daemon = True
            watchdog.start()
            promise = engine.eval(f"checkDiagram({json.dumps(text)})")
            assert isinstance(promise, JSPromise)
            print(promise.get(), flush=True)
            watchdog.cancel()


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
