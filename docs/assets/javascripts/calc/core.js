/**
 * Calculators: what one is, and what it answers (entries.js reads what is entered).
 *
 * A calculator is a record given to `calc.add`; the form of the page and the static text
 * around it are made from that record, and its `run` is the only place where its formula is
 * written. No part of a page is touched here: Python runs this file too.
 *
 *   id, title {zh, en}, about {zh, en}
 *   note      id of the note that explains the formula; a link once that note exists
 *   inputs    [{key, label, kind, unit, value, min, max, choices, help, when, family, fills}]
 *   outputs   [{key, label, unit, kind, digits}]; the first one is the answer
 *   formula   [TeX]; assumptions [{zh, en}]; sources [{title, url, read}]
 *   example   {inputs, says {zh, en}}
 *   check     values -> [{key, zh, en}]: what no single entry shows
 *   run       values -> {output key: number, text {zh, en}, or null}
 *   tables    values, outputs -> [{caption, head, rows}]; remarks -> [{zh, en}]; draw -> scene
 *
 * Kinds of input: number (the default), integer, choice, flag (true or false), preset (a row of a
 * family of docs/data, which fills other inputs until the reader writes something else there).
 */
(function (root) {
  "use strict";

  var calc = {
    records: {},
    order: [],
    /** The formulas themselves, by name: plain functions of numbers. */
    formulas: {},
    data: { families: {}, sources: {} }
  };
  root.calc = calc;

  /** A text in one language; what has only one form stays as it is. */
  calc.say = function (text, language) {
    if (text === null || text === undefined) {
      return "";
    }
    return typeof text === "object" ? text[language === "en" ? "en" : "zh"] : String(text);
  };

  /** Makes a calculator known. */
  calc.add = function (record) {
    calc.records[record.id] = record;
    calc.order.push(record.id);
  };

  /** Takes the rows that presets choose from, as hooks/calc/presets.py writes them. */
  calc.setData = function (data) {
    calc.data = data;
  };

  /** The nearest of some names, for a slip of the fingers; "" when none is near. */
  calc.nearest = function (name, names) {
    var best = "";
    var least = Math.max(2, Math.floor(name.length / 3)) + 1;
    names.forEach(function (other) {
      var far = distance(name, other);
      if (far < least) {
        least = far;
        best = other;
      }
    });
    return best;
  };

  function distance(a, b) {
    var row = [];
    for (var j = 0; j <= b.length; j++) {
      row[j] = j;
    }
    for (var i = 1; i <= a.length; i++) {
      var corner = row[0];
      row[0] = i;
      for (var k = 1; k <= b.length; k++) {
        var above = row[k];
        var same = a.charAt(i - 1) === b.charAt(k - 1);
        row[k] = Math.min(row[k] + 1, row[k - 1] + 1, corner + (same ? 0 : 1));
        corner = above;
      }
    }
    return row[b.length];
  }

  function unknownKeys(record, entries) {
    var known = record.inputs.map(function (input) { return input.key; });
    return Object.keys(entries).filter(function (key) {
      return known.indexOf(key) < 0;
    }).map(function (key) {
      var near = calc.nearest(key, known);
      return {
        key: key,
        zh: "没有叫“" + key + "”的输入" + (near ? "；是不是 " + near + "？" : "；有：" + known.join("、") + "。"),
        en: "There is no input '" + key + "'; " +
          (near ? "did you mean '" + near + "'?" : "there are: " + known.join(", ") + ".")
      };
    });
  }

  /**
   * Answers entries: {inputs, filled, errors} and, without errors, {outputs, tables, remarks,
   * scene}.
   */
  calc.answer = function (id, entries) {
    var record = calc.records[id];
    var read = calc.read(record, entries);
    var answer = {
      inputs: read.values,
      filled: read.filled,
      errors: unknownKeys(record, entries).concat(read.errors)
    };
    if (answer.errors.length) {
      return answer;
    }
    answer.outputs = record.run(read.values);
    answer.tables = record.tables ? record.tables(read.values, answer.outputs) : [];
    answer.remarks = record.remarks ? record.remarks(read.values, answer.outputs) : [];
    answer.scene = record.draw ? record.draw(read.values, answer.outputs) : null;
    return answer;
  };

  /**
   * The same answer in words of one language: {errors [{key, text}], rows [{key, label, text}],
   * tables [{caption, head, rows}], remarks [text], drawing}; all texts, ready to be shown.
   */
  calc.show = function (id, entries, language) {
    var answer = calc.answer(id, entries);
    function say(text) {
      return calc.say(text, language);
    }
    function inWords(table) {
      return {
        caption: say(table.caption),
        head: table.head.map(function (one) { return say(one.label); }),
        rows: table.rows.map(function (row) {
          var cells = table.head.map(function (form, at) {
            var value = row.cells[at];
            return typeof value === "number" ? calc.format(value, form, language) : say(value);
          });
          return { cells: cells, chosen: Boolean(row.chosen) };
        })
      };
    }
    var shown = {
      inputs: answer.inputs, filled: answer.filled, outputs: answer.outputs || null,
      errors: answer.errors.map(function (error) { return { key: error.key, text: say(error) }; }),
      rows: [], tables: [], remarks: [], drawing: ""
    };
    if (answer.errors.length) {
      return shown;
    }
    shown.rows = calc.records[id].outputs.filter(function (output) {
      return calc.isShown(output, answer.inputs) && answer.outputs[output.key] !== null;
    }).map(function (output) {
      var text = calc.format(answer.outputs[output.key], output, language);
      return { key: output.key, label: say(output.label), text: text };
    });
    shown.tables = answer.tables.map(inWords);
    shown.remarks = answer.remarks.map(say);
    shown.drawing = answer.scene ? calc.drawing(answer.scene, language) : "";
    return shown;
  };

  /** A record without its functions, for Python. */
  calc.describe = function (id) {
    var record = calc.records[id];
    var plain = JSON.parse(JSON.stringify(record));
    plain.inputs.forEach(function (input, at) {
      input.choices = calc.choicesOf(record.inputs[at]);
    });
    return plain;
  };
})(this);
