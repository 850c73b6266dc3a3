/**
 * Numbers and units: conversion, and how a figure is written.
 *
 * Decimal prefixes are powers of 1000 and binary ones (Ki, Mi, Gi) powers of 1024, always; a
 * number of bytes is written in both, because notes and tools mix them.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var DECIMAL = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };
  var BINARY = { Ki: 1024, Mi: 1048576, Gi: 1073741824, Ti: 1099511627776, Pi: 1125899906842624 };
  var TIMES = { ns: 1e-9, "µs": 1e-6, "μs": 1e-6, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400 };

  /** A unit as {dimension, factor}; null when it is none of those known here. */
  calc.unit = function (name) {
    var match = /^(|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi)(b|B|bit|byte)(\/s|ps)?$/.exec(name);
    if (match) {
      var scale = DECIMAL[match[1]] || BINARY[match[1]];
      var isBit = match[2] === "b" || match[2] === "bit";
      return { dimension: match[3] ? "rate" : "data", factor: scale * (isBit ? 0.125 : 1) };
    }
    match = /^(|k|M|G|T|P|E)(FLOPS|FLOP\/s|OPS|OP\/s)$/.exec(name);
    if (match) {
      return { dimension: "speed", factor: DECIMAL[match[1]] };
    }
    match = /^(|k|M|G|T|P|E)(FLOP|Hz|T\/s|W)$/.exec(name);
    if (match) {
      return { dimension: match[2], factor: DECIMAL[match[1]] };
    }
    if (TIMES.hasOwnProperty(name)) {
      return { dimension: "time", factor: TIMES[name] };
    }
    return null;
  };

  /**
   * A value in another unit of the same dimension. Where both names are the same, or one of them
   * is none, the number stays as it is.
   */
  calc.convert = function (value, from, to) {
    if (from === "Gparam") {
      return parseFloat((value * 1e9).toPrecision(15));
    }
    if (from === to || !from || typeof to !== "string" || !to || from === "none") {
      return value;
    }
    var source = calc.unit(from);
    var target = calc.unit(to);
    if (!source || !target || source.dimension !== target.dimension) {
      throw new Error("cannot convert " + from + " to " + to);
    }
    // Away from binary fractions: 3.35 TB/s is 3350 GB/s, not 3350.0000000000005.
    return parseFloat(((value * source.factor) / target.factor).toPrecision(15));
  };

  function grouped(digits) {
    return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  }

  var RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

  function raised(exponent) {
    return String(exponent).replace(/\d/g, function (digit) {
      return RAISED.charAt(Number(digit));
    }).replace("-", "⁻");
  }

  /** A number to so many significant digits (4), with commas; whole parts are kept whole. */
  calc.number = function (value, digits) {
    if (value === null || value === undefined || value !== value) {
      return "–";
    }
    if (value === Infinity || value === -Infinity) {
      return value > 0 ? "∞" : "−∞";
    }
    var size = Math.abs(value);
    if (size !== 0 && (size >= 1e15 || size < 1e-4)) {
      var parts = value.toExponential(Math.max(0, Math.min(digits || 4, 6) - 1)).split("e");
      var mantissa = parts[0].indexOf(".") < 0 ? parts[0] : parts[0].replace(/\.?0+$/, "");
      return mantissa.replace("-", "−") + "×10" + raised(Number(parts[1]));
    }
    var whole = Math.floor(size) === size ? size : 0;
    var places = digits || 4;
    var before = size < 1 ? 0 : Math.floor(Math.log(size) / Math.LN10 + 1e-9) + 1;
    var text;
    if (whole && before <= 15 && (before <= places || digits === undefined || digits >= 12)) {
      text = String(whole);
    } else if (before >= places) {
      text = String(Math.round(size));
    } else {
      text = String(parseFloat(size.toPrecision(places)));
    }
    if (text.indexOf("e") >= 0) {
      text = size.toFixed(Math.min(20, places + 6)).replace(/0+$/, "");
    }
    var pieces = text.split(".");
    return (value < 0 ? "−" : "") + grouped(pieces[0]) + (pieces[1] ? "." + pieces[1] : "");
  };

  function scaled(value, names, base, digits) {
    var size = Math.abs(value);
    var at = 0;
    // 999.96 GB would be written 1000 GB: go by what will be printed.
    while (at < names.length - 1 && parseFloat((size / Math.pow(base, at)).toPrecision(digits)) >= base) {
      at++;
    }
    return calc.number(value / Math.pow(base, at), digits) + " " + names[at];
  }

  var BYTES = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
  var BINARY_BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

  /** A duration in the unit one would say it in. */
  calc.duration = function (seconds, language, digits) {
    var steps = [
      [86400 * 2, 86400, "天", "days"], [7200, 3600, "小时", "h"], [120, 60, "分钟", "min"],
      [1, 1, "s", "s"], [1e-3, 1e-3, "ms", "ms"], [1e-6, 1e-6, "µs", "µs"], [0, 1e-9, "ns", "ns"]
    ];
    for (var i = 0; i < steps.length; i++) {
      if (seconds >= steps[i][0] || seconds !== seconds) {
        var unit = steps[i][language === "en" ? 3 : 2];
        return calc.number(seconds / steps[i][1], digits || 4) + " " + unit;
      }
    }
    return calc.number(seconds, digits || 4) + " s";
  };

  /**
   * A result as it is shown. `form` has kind and digits or unit:
   * bytes (in both systems), seconds, flop, flops, ratio (as %), count (whole), money, text; else
   * a number with its unit.
   */
  calc.format = function (value, form, language) {
    var digits = form.digits || 4;
    if (value === null || value === undefined) {
      return "–";
    }
    if (typeof value !== "number") {
      return calc.say(value, language);
    }
    if (value !== value || Math.abs(value) === Infinity) {
      return calc.number(value);
    }
    if (form.kind === "bytes") {
      var decimal = scaled(value, BYTES, 1000, digits);
      var binary = scaled(value, BINARY_BYTES, 1024, digits);
      return Math.abs(value) < 1000 ? decimal
        : language === "en" ? decimal + " (" + binary + ")" : decimal + "（" + binary + "）";
    }
    if (form.kind === "seconds") {
      return calc.duration(value, language, digits);
    }
    if (form.kind === "flop" || form.kind === "flops") {
      var end = form.kind === "flop" ? "FLOP" : "FLOP/s";
      if (Math.abs(value) >= 1e21) {
        return calc.number(value, digits) + " " + end;
      }
      return scaled(value, ["", "k", "M", "G", "T", "P", "E"], 1000, digits) + end;
    }
    if (form.kind === "ratio") {
      return calc.number(value * 100, digits) + " %";
    }
    if (form.kind === "count") {
      return calc.number(Math.round(value), 15) + tail(form, language);
    }
    return calc.number(value, digits) + tail(form, language);
  };

  function tail(form, language) {
    var unit = calc.say(form.unit, language);
    return unit ? " " + unit : "";
  }
})(this);
