/**
 * What is entered in a calculator: numbers as they are typed, choices, rows that fill other inputs,
 * and what is wrong with them; and the other way round, a value as one would type it or say it.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var has = Object.prototype.hasOwnProperty;
  var SUFFIXES = {
    k: 1e3, K: 1e3, M: 1e6, G: 1e9, B: 1e9, b: 1e9, T: 1e12, t: 1e12, P: 1e15, E: 1e18,
    Ki: 1024, Mi: 1048576, Gi: 1073741824, Ti: 1099511627776, "万": 1e4, "亿": 1e8
  };
  var NUMBER = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([A-Za-z]{0,2}|万|亿)$/;

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
    return list.filter(function (one) { return one[key] === value; })[0] || null;
  }

  function isNumber(input) {
    return !input.kind || input.kind === "number" || input.kind === "integer";
  }

  /** Whether an input plays a part, given what has been chosen. */
  calc.isShown = function (input, values) {
    return Object.keys(input.when || {}).every(function (key) {
      return input.when[key].indexOf(values[key]) >= 0;
    });
  };

  /** Rows of a preset: [{value, label}], first "own numbers". */
  calc.choicesOf = function (input) {
    if (input.kind !== "preset") {
      return input.choices || [];
    }
    var family = calc.data.families[input.family];
    var rows = (family ? family.rows : []).filter(function (row) {
      return (input.needs || []).every(function (name) { return has.call(row.cells, name); });
    });
    return [{ value: "", label: { zh: "自己填", en: "own numbers" } }].concat(rows.map(function (row) {
      return { value: row.key, label: row.title };
    }));
  };

  /** What a preset's row fills in, by the keys of inputs: a column, several, or a function. */
  calc.columnsOf = function (input, values) {
    return typeof input.fills === "function" ? input.fills(values) : input.fills || {};
  };

  /**
   * What the chosen rows fill in: {input key: {value, source, row, read, preset}}. In `lacking`
   * goes the title of a row that should fill an input and has no such figure.
   */
  function fillings(record, values, lacking) {
    var filled = {};
    record.inputs.forEach(function (input) {
      var isPreset = input.kind === "preset" && calc.isShown(input, values);
      var family = isPreset ? calc.data.families[input.family] : null;
      var row = family && values[input.key] ? find(family.rows, "key", values[input.key]) : null;
      var columns = row ? calc.columnsOf(input, values) : {};
      Object.keys(columns).forEach(function (key) {
        var found = cellFor(columns[key], row, family, find(record.inputs, "key", key));
        if (!found) {
          lacking[key] = row.title;
        } else if (!has.call(filled, key)) {
          found.preset = input.key;
          filled[key] = found;
        }
      });
    });
    return filled;
  }

  /** What a row says for an input: by column, the first of several, or by a function of cells. */
  function cellFor(column, row, family, target) {
    if (typeof column === "function") {
      var made = column(row.cells);
      return made === undefined ? null : { value: made, source: "", row: row.title, read: "" };
    }
    var name = [].concat(column).filter(function (one) { return row.cells[one]; })[0];
    var cell = name && row.cells[name];
    return !cell ? null : {
      value: typeof cell[0] === "number"
        ? calc.convert(cell[0], family.units[name] || "", target.unit || "") : cell[0],
      source: cell[1], row: row.title, read: cell[2]
    };
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

  /** A number; NaN with an error where there is none. An emptied field is told so. */
  function readNumber(input, given, filled, errors, lackingIn) {
    var isBlank = given !== undefined && String(given).replace(/\s/g, "") === "";
    if (isBlank && !input.optional) {
      var range = rangeProblem(input);
      errors.push(problem(input, "空着，不能算；" + range.zh, "This is empty. " + range.en));
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
    var known = choices.map(function (one) { return one.value; });
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
    var lacking = {};
    function given(input) {
      return has.call(entries, input.key) && entries[input.key] !== null ? entries[input.key] : undefined;
    }
    record.inputs.forEach(function (input) {
      if (input.kind === "choice" || input.kind === "preset") {
        values[input.key] = readChoice(input, given(input), null, errors);
      } else if (input.kind === "flag") {
        values[input.key] = readFlag(input, given(input), errors);
      }
    });
    var filled = fillings(record, values, lacking);
    record.inputs.forEach(function (input) {
      var key = input.key;
      var shown = calc.isShown(input, values);
      if (isNumber(input)) {
        values[key] = readNumber(
          input, shown ? given(input) : undefined, filled[key], shown ? errors : [], lacking[key]
        );
      } else if (input.kind === "choice" && filled[key] && given(input) === undefined) {
        values[key] = readChoice(input, undefined, filled[key], errors);
      }
    });
    if (!errors.length && record.check) {
      errors = errors.concat(record.check(values) || []);
    }
    return { values: values, errors: errors, filled: filled };
  };

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
})(this);
