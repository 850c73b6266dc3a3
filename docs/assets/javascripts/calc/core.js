/**
 * Calculators: what one is, how its entries are read, and what it answers.
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

  var has = Object.prototype.hasOwnProperty;
  var SUFFIXES = {
    k: 1e3, K: 1e3, M: 1e6, G: 1e9, B: 1e9, b: 1e9, T: 1e12, t: 1e12, P: 1e15, E: 1e18,
    Ki: 1024, Mi: 1048576, Gi: 1073741824, Ti: 1099511627776, "万": 1e4, "亿": 1e8
  };
  var NUMBER = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([A-Za-z]{0,2}|万|亿)$/;

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

  /**
   * The number a reader wrote, or NaN: "1,024", "70B", "15e12", "64Ki" and "１２８" are numbers.
   */
  calc.parseNumber = function (text) {
    if (typeof text === "number") {
      return text;
    }
    var plain = String(text).replace(/[\uff01-\uff5e]/g, function (wide) {
      return String.fromCharCode(wide.charCodeAt(0) - 0xfee0);
    });
    plain = plain.replace(/[\s_\u3000\u00a0]/g, "");
    if (/^[+-]?\d{1,3}(,\d{3})+(\D|$)/.test(plain)) {
      plain = plain.replace(/,/g, "");
    }
    var match = NUMBER.exec(plain);
    if (!match || (match[2] && !has.call(SUFFIXES, match[2]))) {
      return NaN;
    }
    return parseFloat(match[1]) * (match[2] ? SUFFIXES[match[2]] : 1);
  };

  function find(list, key, value) {
    for (var i = 0; i < list.length; i++) {
      if (list[i][key] === value) {
        return list[i];
      }
    }
    return null;
  }

  /** Whether an input plays a part, given what has been chosen. */
  calc.isShown = function (input, values) {
    for (var key in input.when || {}) {
      if (input.when[key].indexOf(values[key]) < 0) {
        return false;
      }
    }
    return true;
  };

  /** Rows of a preset: [{value, label}], first "own numbers". */
  calc.choicesOf = function (input) {
    if (input.kind !== "preset") {
      return input.choices || [];
    }
    var choices = [{ value: "", label: { zh: "自己填", en: "own numbers" } }];
    var family = calc.data.families[input.family];
    var rows = family ? family.rows : [];
    for (var i = 0; i < rows.length; i++) {
      if (!input.needs || allThere(rows[i].cells, input.needs)) {
        choices.push({ value: rows[i].key, label: rows[i].title });
      }
    }
    return choices;
  };

  function allThere(cells, names) {
    for (var i = 0; i < names.length; i++) {
      if (!has.call(cells, names[i])) {
        return false;
      }
    }
    return true;
  }

  /**
   * What the chosen rows fill in: {input key: {value, source, row, read, preset}}. In `lacking`
   * goes the title of a row that should fill an input and has no such figure.
   */
  function fillings(record, values, lacking) {
    var filled = {};
    for (var i = 0; i < record.inputs.length; i++) {
      var input = record.inputs[i];
      var isPreset = input.kind === "preset" && calc.isShown(input, values);
      var family = isPreset ? calc.data.families[input.family] : null;
      var row = family && values[input.key] ? find(family.rows, "key", values[input.key]) : null;
      var columns = row ? columnsOf(input, values) : {};
      for (var key in columns) {
        var found = cellFor(columns[key], row, family, find(record.inputs, "key", key));
        if (found) {
          found.preset = input.key;
        }
        if (!found) {
          lacking[key] = row.title;
        } else if (!has.call(filled, key)) {
          filled[key] = found;
        }
      }
    }
    return filled;
  }

  /** What a row says for an input: by column, the first of several, or by a function of cells. */
  function cellFor(column, row, family, target) {
    if (typeof column === "function") {
      var made = column(row.cells);
      return made === undefined ? null : { value: made, source: "", row: row.title, read: "" };
    }
    var names = [].concat(column);
    for (var n = 0; n < names.length; n++) {
      var cell = has.call(row.cells, names[n]) ? row.cells[names[n]] : null;
      if (cell) {
        var isNumber = typeof cell[0] === "number";
        return {
          value: isNumber ? calc.convert(cell[0], family.units[names[n]] || "", target.unit || "") : cell[0],
          source: cell[1], row: row.title, read: cell[2]
        };
      }
    }
    return null;
  }

  function columnsOf(input, values) {
    return typeof input.fills === "function" ? input.fills(values) : input.fills || {};
  }

  function problem(input, zh, en) {
    return { key: input.key, zh: zh, en: en };
  }

  function rangeProblem(input, lackingIn, ask) {
    var whole = input.kind === "integer";
    var low = calc.number(input.min, 12);
    var high = calc.number(input.max, 12);
    var unit = calc.say(input.unit, "en");
    unit = unit ? " " + unit : "";
    var zh = lackingIn ? "数据里没有 " + calc.say(lackingIn, "zh") + " 的这一项；" : calc.say(ask, "zh");
    var en = lackingIn ? "The data have no such figure for " + calc.say(lackingIn, "en") + ". " : calc.say(ask, "en");
    return problem(
      input,
      zh + "请填 " + low + " 到 " + high + unit + " 之间的" + (whole ? "整数" : "数") + "。",
      en + "Enter a " + (whole ? "whole number" : "number") + " from " + low + " to " + high + unit + "."
    );
  }

  /** An emptied field is told so: that its first value counted would not be seen. */
  function emptyProblem(input) {
    var range = rangeProblem(input);
    return problem(input, "空着，不能算；" + range.zh, "This is empty. " + range.en);
  }

  function readNumber(input, given, filled, errors, lackingIn) {
    var isBlank = given !== undefined && String(given).replace(/\s/g, "") === "";
    if (isBlank && !input.optional) {
      errors.push(emptyProblem(input));
      return NaN;
    }
    var isGiven = given !== undefined && !isBlank;
    var written = isGiven ? given : filled ? filled.value : input.value;
    var value = written === undefined ? NaN : calc.parseNumber(written);
    if (value !== value) {
      errors.push(rangeProblem(input, isGiven ? null : lackingIn, isGiven ? null : input.ask));
      return NaN;
    }
    var fits = value >= input.min && value <= input.max;
    if (!fits || (input.kind === "integer" && Math.floor(value) !== value)) {
      errors.push(rangeProblem(input));
      return NaN;
    }
    return value;
  }

  function readChoice(input, given, filled, errors) {
    var choices = calc.choicesOf(input);
    var value = given !== undefined ? String(given) : filled ? filled.value : input.value;
    if (find(choices, "value", value)) {
      return value;
    }
    if (given === undefined && input.kind === "preset") {
      return ""; // the data lack the row this record starts from
    }
    var known = [];
    for (var i = 0; i < choices.length; i++) {
      known.push(choices[i].value);
    }
    errors.push(problem(
      input,
      "没有“" + value + "”这一项；可选：" + known.join("、") + "。",
      "There is no '" + value + "'; choose one of: " + known.join(", ") + "."
    ));
    return input.value;
  }

  function readFlag(input, given, errors) {
    if (given === undefined) {
      return Boolean(input.value);
    }
    var text = String(given).toLowerCase();
    if (/^(1|true|yes|on|是)$/.test(text)) {
      return true;
    }
    if (!/^(0|false|no|off|否|)$/.test(text)) {
      errors.push(problem(input, "请填 true 或 false。", "Enter true or false."));
    }
    return false;
  }

  /**
   * Reads entries.
   *
   * Returns {values, errors [{key, zh, en}], filled}: a value for every input, whether entered,
   * filled in by a chosen row, or the record's own.
   */
  calc.read = function (record, entries) {
    var values = {};
    var errors = [];
    var i, input;
    function given(key) {
      return has.call(entries, key) && entries[key] !== null ? entries[key] : undefined;
    }
    for (i = 0; i < record.inputs.length; i++) {
      input = record.inputs[i];
      if (input.kind === "choice" || input.kind === "preset") {
        values[input.key] = readChoice(input, given(input.key), null, errors);
      } else if (input.kind === "flag") {
        values[input.key] = readFlag(input, given(input.key), errors);
      }
    }
    var lacking = {};
    var filled = fillings(record, values, lacking);
    for (i = 0; i < record.inputs.length; i++) {
      input = record.inputs[i];
      var isNumber = !input.kind || input.kind === "number" || input.kind === "integer";
      var shown = calc.isShown(input, values);
      if (isNumber) {
        values[input.key] = readNumber(
          input, shown ? given(input.key) : undefined, filled[input.key], shown ? errors : [],
          lacking[input.key]
        );
      } else if (input.kind === "choice" && filled[input.key] && given(input.key) === undefined) {
        values[input.key] = readChoice(input, undefined, filled[input.key], errors);
      }
    }
    if (!errors.length && record.check) {
      errors = errors.concat(record.check(values) || []);
    }
    return { values: values, errors: errors, filled: filled };
  };

  /** The nearest of some names, for a slip of the fingers; "" when none is near. */
  calc.nearest = function (name, names) {
    var best = "";
    var least = Math.max(2, Math.floor(name.length / 3)) + 1;
    for (var i = 0; i < names.length; i++) {
      var far = distance(name, names[i]);
      if (far < least) {
        least = far;
        best = names[i];
      }
    }
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
        row[k] = Math.min(
          row[k] + 1, row[k - 1] + 1, corner + (a.charAt(i - 1) === b.charAt(k - 1) ? 0 : 1)
        );
        corner = above;
      }
    }
    return row[b.length];
  }

  function unknownKeys(record, entries) {
    var known = [];
    var errors = [];
    for (var i = 0; i < record.inputs.length; i++) {
      known.push(record.inputs[i].key);
    }
    for (var key in entries) {
      if (known.indexOf(key) < 0) {
        var near = calc.nearest(key, known);
        errors.push({
          key: key,
          zh: "没有叫“" + key + "”的输入" + (near ? "；是不是 " + near + "？" : "；有：" + known.join("、") + "。"),
          en: "There is no input '" + key + "'; " +
            (near ? "did you mean '" + near + "'?" : "there are: " + known.join(", ") + ".")
        });
      }
    }
    return errors;
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
    var record = calc.records[id];
    var answer = calc.answer(id, entries);
    var shown = {
      inputs: answer.inputs, filled: answer.filled, errors: [], outputs: answer.outputs || null,
      rows: [], tables: [], remarks: [], drawing: ""
    };
    var i;
    for (i = 0; i < answer.errors.length; i++) {
      shown.errors.push({ key: answer.errors[i].key, text: calc.say(answer.errors[i], language) });
    }
    if (answer.errors.length) {
      return shown;
    }
    for (i = 0; i < record.outputs.length; i++) {
      var output = record.outputs[i];
      if (calc.isShown(output, answer.inputs) && answer.outputs[output.key] !== null) {
        shown.rows.push({
          key: output.key,
          label: calc.say(output.label, language),
          text: calc.format(answer.outputs[output.key], output, language)
        });
      }
    }
    for (i = 0; i < answer.tables.length; i++) {
      shown.tables.push(tableInWords(answer.tables[i], language));
    }
    for (i = 0; i < answer.remarks.length; i++) {
      shown.remarks.push(calc.say(answer.remarks[i], language));
    }
    shown.drawing = answer.scene ? calc.drawing(answer.scene, language) : "";
    return shown;
  };

  function tableInWords(table, language) {
    var head = [];
    var rows = [];
    for (var i = 0; i < table.head.length; i++) {
      head.push(calc.say(table.head[i].label, language));
    }
    for (var r = 0; r < table.rows.length; r++) {
      var cells = [];
      for (var c = 0; c < table.head.length; c++) {
        var value = table.rows[r].cells[c];
        cells.push(typeof value === "number" ? calc.format(value, table.head[c], language) : calc.say(value, language));
      }
      rows.push({ cells: cells, chosen: Boolean(table.rows[r].chosen) });
    }
    return { caption: calc.say(table.caption, language), head: head, rows: rows };
  }

  /** A number as one would type it: 70.55B, 0.125, 65536. */
  calc.typed = function (input, value) {
    if (typeof value !== "number") {
      return String(value);
    }
    var steps = [["T", 1e12], ["B", 1e9], ["M", 1e6]];
    for (var i = 0; !input.unit && i < steps.length; i++) {
      var short = String(parseFloat((value / steps[i][1]).toPrecision(6)));
      if (value >= steps[i][1] && calc.parseNumber(short + steps[i][0]) === value) {
        return short + steps[i][0];
      }
    }
    return String(value);
  };

  /** An input's value in words: the choice's name, or the number with its unit. */
  calc.inputText = function (input, value, language) {
    if (input.kind === "choice" || input.kind === "preset") {
      var choice = find(calc.choicesOf(input), "value", value);
      return choice ? calc.say(choice.label, language) : String(value);
    }
    if (input.kind === "flag") {
      return language === "en" ? (value ? "yes" : "no") : value ? "是" : "否";
    }
    var unit = calc.say(input.unit, language);
    if (unit === "B" && value >= 1e5) {
      return calc.format(value, { kind: "bytes" }, language);
    }
    return unit ? calc.number(value, 12) + " " + unit : calc.typed(input, value);
  };

  /** A record without its functions, for Python. */
  calc.describe = function (id) {
    var record = calc.records[id];
    var plain = JSON.parse(JSON.stringify(record));
    for (var i = 0; i < plain.inputs.length; i++) {
      plain.inputs[i].choices = calc.choicesOf(record.inputs[i]);
    }
    return plain;
  };
})(this);
