/** What a calculator's form is made of: elements, the answer, where filled-in numbers are from. */
(function (root) {
  "use strict";

  var calc = root.calc;
  var document = root.document;
  var isEnglish = /^en/.test(document.documentElement.lang);
  var page = calc.page = { language: isEnglish ? "en" : "zh" };

  page.say = function (text) {
    return calc.say(text, page.language);
  };

  /** An element with text, attributes and what stands in it. */
  page.make = function (name, className, text, attributes, inside) {
    var element = document.createElement(name);
    if (className) {
      element.className = className;
    }
    if (text) {
      element.textContent = text;
    }
    for (var key in attributes || {}) {
      element.setAttribute(key, attributes[key]);
    }
    (inside || []).forEach(function (one) { element.appendChild(one); });
    return element;
  };

  /** The keys of a phone: digits, unless 70B, 64Ki or a minus may be entered. */
  function keys(input) {
    return input.min < 0 || input.unit === "B" || !(input.max <= 1e6) ? "text" : input.kind === "integer" ? "numeric" : "decimal";
  }

  /** What an input is entered in. */
  page.control = function (input) {
    var make = page.make;
    if (input.kind === "choice" || input.kind === "preset") {
      return make("select", "calc__input", "", {}, calc.choicesOf(input).map(function (choice) {
        return make("option", "", page.say(choice.label), { value: choice.value });
      }));
    }
    return input.kind === "flag" ? make("input", "calc__check", "", { type: "checkbox" })
      : make("input", "calc__input", "", {
        type: "text", inputmode: keys(input), autocomplete: "off",
        autocapitalize: "off", spellcheck: "false"
      });
  };

  /** Shows an answer in place of the one before. */
  page.draw = function (result, shown) {
    var make = page.make;
    result.textContent = "";
    result.appendChild(make("dl", "calc__outputs", "", {}, shown.rows.map(function (row, at) {
      var parts = [make("dt", "", row.label), make("dd", "", row.text)];
      return make("div", at ? "calc__output" : "calc__output calc__output--first", "", {}, parts);
    })));
    shown.remarks.forEach(function (remark) {
      result.appendChild(make("p", "calc__remark", remark));
    });
    if (shown.drawing) {
      var picture = new root.DOMParser().parseFromString(shown.drawing, "image/svg+xml").documentElement;
      var inside = [document.importNode(picture, true)];
      result.appendChild(make("div", "figure__scroll calc__drawing", "", {}, inside));
    }
    shown.tables.forEach(function (table) {
      result.appendChild(make("div", "md-typeset__scrollwrap", "", {}, [drawTable(table)]));
    });
  };

  function drawTable(table) {
    var make = page.make;
    var heads = table.head.map(function (title) { return make("th", "", title, { scope: "col" }); });
    var rows = table.rows.map(function (row) {
      return make("tr", row.chosen ? "calc__chosen" : "", "", {}, row.cells.map(function (cell, at) {
        return at ? make("td", "", cell) : make("th", "", (row.chosen ? "▸ " : "") + cell, { scope: "row" });
      }));
    });
    return make("table", "calc__table", "", {}, [
      make("caption", "", table.caption), make("thead", "", "", {}, [make("tr", "", "", {}, heads)]),
      make("tbody", "", "", {}, rows)
    ]);
  }

  /** Below a preset: the documents that its numbers were read in, and which numbers where. */
  page.drawSources = function (element, sources) {
    var names = Object.keys(sources || {});
    element.textContent = "";
    element.hidden = !names.length;
    names.forEach(function (name, at) {
      var source = calc.data.sources[name];
      var labels = sources[name].labels.join(isEnglish ? ", " : "、") + (isEnglish ? ": " : "：");
      var lead = at ? (isEnglish ? "; " : "；") : isEnglish ? "Data from " : "数据来自 ";
      element.appendChild(document.createTextNode(lead + (names.length > 1 ? labels : "")));
      element.appendChild(page.make("a", "", page.say(source.title), { href: source.url }));
      element.appendChild(document.createTextNode((isEnglish ? ", " : "，") + sources[name].read));
    });
  };
})(this);
