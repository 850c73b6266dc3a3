/**
 * The form of a calculator in the page, made from its record.
 *
 * What is entered answers at once; what makes no sense says which range does and leaves the last
 * result standing. Entries that differ from the start are kept in the address (?pcie.gen=gen4), so
 * that a result can be shared, bookmarked and taken to the other language. Without this script the
 * page still shows formula, assumptions and a worked example.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var address = calc.address;
  var document = root.document;
  var language = /^en/.test(document.documentElement.lang) ? "en" : "zh";
  var WORDS = {
    form: { zh: "输入", en: "Entries" },
    result: { zh: "结果", en: "Result" },
    copy: { zh: "复制链接", en: "Copy link" },
    copied: { zh: "链接已复制。", en: "Link copied." },
    uncopied: { zh: "请手动复制：", en: "Copy it by hand: " },
    reset: { zh: "恢复初值", en: "Start over" },
    old: { zh: "有一项不合理；下面仍是上一次的结果。", en: "An entry makes no sense; the last result stands below." },
    none: { zh: "还缺数值，没有结果。", en: "Numbers are missing; no result yet." },
    from: { zh: "数据来自 ", en: "Data from " },
    link: { zh: "链接", en: "link" }
  };

  function say(text) {
    return calc.say(text, language);
  }

  function make(name, className, text) {
    var element = document.createElement(name);
    if (className) {
      element.className = className;
    }
    if (text !== undefined) {
      element.textContent = text;
    }
    return element;
  }

  // ------------------------------------------------------------------ one calculator

  /** Keys that an attribute lists; null without it, which stands for all. */
  function listed(element, attribute) {
    var text = element.getAttribute(attribute);
    return text ? text.split(" ") : null;
  }

  function Form(element, name) {
    this.element = element;
    this.name = name;
    this.record = calc.records[element.getAttribute("data-calc")];
    // A tile shows a part of the calculator, and leads to all of it (hooks/pages/calc_tile.py).
    this.inputs = listed(element, "data-inputs");
    this.outputs = listed(element, "data-outputs");
    this.full = element.getAttribute("data-full");
    this.entries = this.full ? {} : address.entries(name, this.record);
    this.fields = {};
    this.last = null;
    this.timer = null;
    this.build();
    this.answer();
  }

  Form.prototype.id = function (key, part) {
    return "calc-" + this.name + "-" + key + (part ? "-" + part : "");
  };

  Form.prototype.build = function () {
    var app = this.element.querySelector(".calc__app");
    app.textContent = "";
    var fields = make("div", "calc__fields");
    fields.setAttribute("role", "group");
    fields.setAttribute("aria-label", say(this.record.title) + " — " + say(WORDS.form));
    for (var i = 0; i < this.record.inputs.length; i++) {
      if (!this.inputs || this.inputs.indexOf(this.record.inputs[i].key) >= 0) {
        fields.appendChild(this.field(this.record.inputs[i]));
      }
    }
    var entry = app.appendChild(make("div", "calc__entry"));
    entry.appendChild(fields);
    // On a phone the answer stays in view while the form is longer than the screen.
    this.bar = entry.appendChild(make("p", "calc__bar"));
    this.bar.setAttribute("aria-hidden", "true");
    this.result = make("div", "calc__result");
    this.result.setAttribute("role", "group");
    this.result.setAttribute("aria-label", say(this.record.title) + " — " + say(WORDS.result));
    this.notice = make("p", "calc__notice");
    this.spoken = make("p", "calc__spoken");
    this.spoken.setAttribute("role", "status");
    app.appendChild(this.notice);
    app.appendChild(this.result);
    if (!this.full) {
      app.appendChild(this.tools());
    }
    app.appendChild(this.spoken);
  };

  Form.prototype.tools = function () {
    var form = this;
    var bar = make("p", "calc__tools");
    var copy = make("button", "md-button calc__button", say(WORDS.copy));
    var reset = make("button", "md-button calc__button", say(WORDS.reset));
    this.link = make("input", "calc__link");
    copy.type = reset.type = "button";
    this.link.type = "text";
    this.link.readOnly = true;
    this.link.hidden = true;
    this.link.setAttribute("aria-label", say(WORDS.link));
    copy.addEventListener("click", function () {
      form.copy();
    });
    reset.addEventListener("click", function () {
      form.entries = {};
      form.link.hidden = true;
      form.answer();
      form.speak(form.summary());
    });
    bar.appendChild(copy);
    bar.appendChild(reset);
    bar.appendChild(this.link);
    return bar;
  };

  Form.prototype.copy = function () {
    var form = this;
    var shared = address.full(this.name, this.entries);
    function failed() {
      form.link.hidden = false;
      form.link.value = shared;
      form.link.focus();
      form.link.select();
      var done = false;
      try {
        done = document.execCommand("copy");
      } catch (error) {
        done = false;
      }
      form.link.hidden = done;
      form.speak(done ? say(WORDS.copied) : say(WORDS.uncopied));
    }
    if (root.navigator.clipboard && root.navigator.clipboard.writeText) {
      root.navigator.clipboard.writeText(shared).then(function () {
        form.speak(say(WORDS.copied));
      }, failed);
    } else {
      failed();
    }
  };

  /** One line for eyes and ears; the same words twice are said again. */
  Form.prototype.speak = function (text) {
    var spoken = this.spoken;
    root.clearTimeout(this.timer);
    spoken.textContent = "";
    this.timer = root.setTimeout(function () {
      spoken.textContent = text;
    }, 60);
  };

  Form.prototype.field = function (input) {
    var form = this;
    var id = this.id(input.key);
    var field = make("div", "calc__field calc__field--" + (input.kind || "number"));
    var label = make("label", "calc__label", say(input.label));
    var unit = say(input.unit);
    var control;
    label.htmlFor = id;
    if (unit) {
      label.appendChild(make("span", "calc__unit", language === "en" ? " (" + unit + ")" : "（" + unit + "）"));
    }
    if (input.kind === "choice" || input.kind === "preset") {
      control = make("select", "calc__input");
      var choices = calc.choicesOf(input);
      for (var i = 0; i < choices.length; i++) {
        var option = make("option", "", say(choices[i].label));
        option.value = choices[i].value;
        control.appendChild(option);
      }
    } else {
      control = make("input", input.kind === "flag" ? "calc__check" : "calc__input");
      control.type = input.kind === "flag" ? "checkbox" : "text";
      if (input.kind !== "flag") {
        control.setAttribute("inputmode", input.unit ? "decimal" : "text");
        control.setAttribute("autocomplete", "off");
        control.setAttribute("autocapitalize", "off");
        control.spellcheck = false;
      }
    }
    control.id = id;
    var help = make("p", "calc__help", say(input.help));
    help.id = this.id(input.key, "help");
    var source = make("p", "calc__source");
    source.hidden = true;
    var error = make("p", "calc__error");
    error.id = this.id(input.key, "error");
    error.hidden = true;
    help.hidden = !input.help || Boolean(this.full);
    control.setAttribute("aria-describedby", (!help.hidden ? help.id + " " : "") + error.id);
    if (input.kind === "flag") {
      field.appendChild(control);
      field.appendChild(label);
    } else {
      field.appendChild(label);
      field.appendChild(control);
    }
    field.appendChild(error);
    field.appendChild(help);
    field.appendChild(source);
    this.fields[input.key] = { box: field, control: control, error: error, source: source, input: input };
    control.addEventListener(control.type === "text" ? "input" : "change", function () {
      form.enter(input, control);
    });
    control.addEventListener("change", function () {
      if (control.type === "text" && !/\S/.test(control.value)) {
        delete form.entries[input.key];
      }
      form.answer(); // once more on leaving: an emptied field takes its value back
      form.speak(form.summary());
    });
    return field;
  };

  Form.prototype.enter = function (input, control) {
    var written = control.type === "checkbox" ? String(control.checked) : control.value;
    var isEmpty = control.type === "text" && !/\S/.test(written);
    var isStart = input.kind === "flag" ? control.checked === Boolean(input.value) : written === String(input.value);
    if (isEmpty) {
      this.entries[input.key] = ""; // said to be empty while it is; on leaving it takes its value back
    } else if (isStart && input.kind !== "choice") {
      delete this.entries[input.key];
    } else {
      this.entries[input.key] = written;
    }
    if (input.kind === "preset") {
      this.giveWay(input);
    }
    this.answer(control);
  };

  /** A row that is chosen fills its inputs anew, whatever was written there before. */
  Form.prototype.giveWay = function (input) {
    var columns = typeof input.fills === "function" ? input.fills(this.last ? this.last.inputs : {}) : input.fills;
    for (var key in columns) {
      delete this.entries[key];
    }
  };

  Form.prototype.summary = function () {
    if (this.last && this.last.isOld) {
      return say(WORDS.old);
    }
    return this.last ? this.last.rows[0].label + (language === "en" ? ": " : "：") + this.last.rows[0].text : say(WORDS.none);
  };

  /** Answers what is entered; `busy` is the field being written in, left as it is. */
  Form.prototype.answer = function (busy) {
    var shown = this.chosen(calc.show(this.record.id, this.entries, language));
    var isGood = !shown.errors.length;
    this.mark(shown);
    if (!isGood && !this.last) {
      // An address with a bad entry: start from the others.
      var sound = {};
      for (var key in this.entries) {
        sound[key] = this.entries[key];
      }
      for (var i = 0; i < shown.errors.length; i++) {
        delete sound[shown.errors[i].key];
      }
      var rest = this.chosen(calc.show(this.record.id, sound, language));
      this.last = rest.errors.length ? null : rest;
      if (this.last) {
        this.draw(this.last);
      }
    }
    if (isGood) {
      this.last = shown;
      this.draw(shown);
      if (this.full) {
        this.element.querySelector(".calc-tile__full").href = this.full + address.query(this.name, this.entries);
      } else {
        address.keep(this.name, this.entries);
      }
    }
    if (this.last) {
      this.last.isOld = !isGood;
    }
    this.notice.hidden = isGood;
    this.notice.textContent = isGood ? "" : say(this.last ? WORDS.old : WORDS.none);
    this.result.className = "calc__result" + (isGood ? "" : " calc__result--old");
    this.fill(shown, busy);
  };

  /** An answer as a tile shows it: some rows, and no table or drawing. */
  Form.prototype.chosen = function (shown) {
    if (!this.outputs) {
      return shown;
    }
    var rows = [];
    for (var i = 0; i < this.outputs.length; i++) {
      for (var k = 0; k < shown.rows.length; k++) {
        if (shown.rows[k].key === this.outputs[i]) {
          rows.push(shown.rows[k]);
        }
      }
    }
    shown.rows = rows.length ? rows : shown.rows.slice(0, 1);
    shown.tables = [];
    shown.drawing = "";
    return shown;
  };

  /** Says beside each field what is wrong with it. */
  Form.prototype.mark = function (shown) {
    for (var key in this.fields) {
      this.fields[key].error.hidden = true;
      this.fields[key].control.removeAttribute("aria-invalid");
    }
    for (var i = 0; i < shown.errors.length; i++) {
      var field = this.fields[shown.errors[i].key];
      if (field && field.error.hidden) {
        field.error.textContent = shown.errors[i].text;
        field.error.hidden = false;
        field.control.setAttribute("aria-invalid", "true");
      }
    }
  };

  /** Shows the values in play: entered, filled in by a row, or the start's; and where from. */
  Form.prototype.fill = function (shown, busy) {
    var sources = {};
    for (var key in this.fields) {
      var field = this.fields[key];
      var isEntered = Object.prototype.hasOwnProperty.call(this.entries, key);
      var filling = shown.filled[key];
      field.box.hidden = !calc.isShown(field.input, shown.inputs);
      if (field.control !== busy) {
        if (field.control.type === "checkbox") {
          field.control.checked = Boolean(shown.inputs[key]);
        } else if (isEntered) {
          field.control.value = this.entries[key];
        } else if (filling) {
          field.control.value = calc.typed(field.input, filling.value);
        } else {
          field.control.value = field.input.kind === "preset" ? shown.inputs[key] : field.input.value === undefined ? "" : field.input.value;
        }
      }
      if (filling && filling.source && !isEntered && !field.box.hidden) {
        var same = (sources[filling.preset] = sources[filling.preset] || {});
        var one = (same[filling.source] = same[filling.source] || { labels: [], read: filling.read });
        one.labels.push(say(field.input.label));
      }
    }
    for (key in this.fields) {
      if (this.fields[key].input.kind === "preset" && !this.full) {
        showSources(this.fields[key].source, sources[key]);
      }
    }
    this.bar.textContent = this.summary();
  };

  /** Below a preset: the documents that its numbers were read in, and which numbers where. */
  function showSources(element, sources) {
    var comma = language === "en" ? ", " : "，";
    var names = [];
    element.textContent = "";
    for (var name in sources || {}) {
      names.push(name);
    }
    element.hidden = !names.length;
    for (var i = 0; i < names.length; i++) {
      var source = calc.data.sources[names[i]];
      var link = make("a", "", say(source.title));
      link.href = source.url;
      var lead = i ? (language === "en" ? "; " : "；") : say(WORDS.from);
      var which = names.length > 1 ? sources[names[i]].labels.join(language === "en" ? ", " : "、") + (language === "en" ? ": " : "：") : "";
      element.appendChild(document.createTextNode(lead + which));
      element.appendChild(link);
      element.appendChild(document.createTextNode(comma + sources[names[i]].read));
    }
  }

  // ------------------------------------------------------------------ the result

  Form.prototype.draw = function (shown) {
    var result = this.result;
    result.textContent = "";
    var list = make("dl", "calc__outputs");
    for (var i = 0; i < shown.rows.length; i++) {
      var row = make("div", i ? "calc__output" : "calc__output calc__output--first");
      row.appendChild(make("dt", "", shown.rows[i].label));
      row.appendChild(make("dd", "", shown.rows[i].text));
      list.appendChild(row);
    }
    result.appendChild(list);
    for (i = 0; i < shown.remarks.length; i++) {
      result.appendChild(make("p", "calc__remark", shown.remarks[i]));
    }
    if (shown.drawing) {
      var picture = new root.DOMParser().parseFromString(shown.drawing, "image/svg+xml").documentElement;
      var box = make("div", "figure__scroll calc__drawing");
      box.appendChild(document.importNode(picture, true));
      result.appendChild(box);
    }
    for (i = 0; i < shown.tables.length; i++) {
      result.appendChild(drawTable(shown.tables[i]));
    }
  };

  function drawTable(table) {
    var box = make("div", "md-typeset__scrollwrap");
    var element = make("table", "calc__table");
    element.appendChild(make("caption", "", table.caption));
    var head = make("tr");
    for (var i = 0; i < table.head.length; i++) {
      var cell = make("th", "", table.head[i]);
      cell.scope = "col";
      head.appendChild(cell);
    }
    element.appendChild(make("thead")).appendChild(head);
    var body = element.appendChild(make("tbody"));
    for (var r = 0; r < table.rows.length; r++) {
      var row = body.appendChild(make("tr", table.rows[r].chosen ? "calc__chosen" : ""));
      for (var c = 0; c < table.rows[r].cells.length; c++) {
        var one = row.appendChild(make(c ? "td" : "th", "", table.rows[r].cells[c]));
        if (!c) {
          one.scope = "row";
          if (table.rows[r].chosen) {
            one.textContent = "▸ " + one.textContent;
          }
        }
      }
    }
    box.appendChild(element);
    return box;
  }

  // ------------------------------------------------------------------ the page

  var seen = {};
  var places = document.querySelectorAll(".calc[data-calc]");
  for (var i = 0; i < places.length; i++) {
    var id = places[i].getAttribute("data-calc");
    if (calc.records[id]) {
      seen[id] = (seen[id] || 0) + 1;
      new Form(places[i], seen[id] > 1 ? id + "-" + seen[id] : id);
    }
  }
})(this);
