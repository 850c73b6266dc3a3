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
  var language = calc.page.language;
  var make = calc.page.make;
  var say = calc.page.say;
  var WORDS = {
    form: { zh: "输入", en: "Entries" },
    result: { zh: "结果", en: "Result" },
    copy: { zh: "复制链接", en: "Copy link" },
    copied: { zh: "链接已复制。", en: "Link copied." },
    bad: { zh: "先改好标红的一项，再复制。", en: "Correct the entry marked in red first." },
    uncopied: { zh: "请手动复制：", en: "Copy it by hand: " },
    reset: { zh: "恢复初值", en: "Start over" },
    old: { zh: "有一项不合理；下面仍是上一次的结果。", en: "An entry makes no sense; the last result stands below." },
    none: { zh: "还缺数值，没有结果。", en: "Numbers are missing; no result yet." },
    link: { zh: "链接", en: "link" }
  };

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

  Form.prototype.build = function () {
    var form = this;
    var app = this.element.querySelector(".calc__app");
    var title = say(this.record.title) + " — ";
    function group(name, words, inside) {
      return make("div", name, "", { role: "group", "aria-label": title + say(words) }, inside);
    }
    var fields = this.record.inputs.filter(function (input) {
      return !form.inputs || form.inputs.indexOf(input.key) >= 0;
    }).map(function (input) { return form.field(input); });
    // On a phone the answer stays in view while the form is longer than the screen.
    this.bar = make("p", "calc__bar", "", { "aria-hidden": "true" });
    this.result = group("calc__result", WORDS.result);
    this.notice = make("p", "calc__notice");
    this.spoken = make("p", "calc__spoken", "", { role: "status" });
    var entry = make("div", "calc__entry", "", {}, [group("calc__fields", WORDS.form, fields), this.bar]);
    app.textContent = "";
    [entry, this.notice, this.result].concat(this.full ? [] : [this.tools()], [this.spoken]).forEach(
      function (part) { app.appendChild(part); }
    );
  };

  Form.prototype.tools = function () {
    var form = this;
    function button(words, act) {
      var made = make("button", "md-button calc__button", say(words), { type: "button" });
      made.addEventListener("click", act);
      return made;
    }
    var copy = button(WORDS.copy, function () { form.copy(); });
    var reset = button(WORDS.reset, function () {
      form.entries = {};
      form.link.hidden = true;
      form.answer();
      form.speak(form.summary());
    });
    this.link = make("input", "calc__link", "", { type: "text", readonly: "", "aria-label": say(WORDS.link) });
    this.link.hidden = true;
    return make("p", "calc__tools", "", {}, [copy, reset, this.link]);
  };

  Form.prototype.copy = function () {
    var form = this;
    if (this.last && this.last.isOld) { return form.speak(say(WORDS.bad)); }
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
    var id = "calc-" + this.name + "-" + input.key;
    var made = calc.page.control(input);
    var label = make("label", "calc__label", say(input.label), { "for": id });
    var help = make("p", "calc__help", say(input.help), { id: id + "-help" });
    var error = make("p", "calc__error", "", { id: id + "-error" });
    var source = make("p", "calc__source");
    var unit = say(input.unit);
    if (unit) {
      label.appendChild(make("span", "calc__unit", language === "en" ? " (" + unit + ")" : "（" + unit + "）"));
    }
    help.hidden = !input.help || Boolean(this.full);
    error.hidden = source.hidden = true;
    made.id = id;
    made.setAttribute("aria-describedby", (help.hidden ? "" : help.id + " ") + error.id);
    var parts = (input.kind === "flag" ? [made, label] : [label, made]).concat([error, help, source]);
    var box = make("div", "calc__field calc__field--" + (input.kind || "number"), "", {}, parts);
    this.fields[input.key] = { box: box, control: made, error: error, source: source, input: input };
    made.addEventListener(made.type === "text" ? "input" : "change", function () {
      form.enter(input, made);
    });
    made.addEventListener("change", function () {
      if (made.type === "text" && !/\S/.test(made.value)) {
        delete form.entries[input.key];
      }
      form.answer(); // once more on leaving: an emptied field takes its value back
      form.speak(form.summary());
    });
    return box;
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
    if (input.kind === "preset") { // its row fills its inputs anew, whatever was written there
      for (var key in calc.columnsOf(input, this.last ? this.last.inputs : {})) {
        delete this.entries[key];
      }
    }
    this.answer(control);
  };

  Form.prototype.summary = function () {
    if (this.last && this.last.isOld) {
      return say(WORDS.old);
    }
    return this.last ? this.last.rows[0].label + (language === "en" ? ": " : "：") + this.last.rows[0].text : say(WORDS.none);
  };

  /** Answers what is entered; `busy` is the field being written in, left as it is. */
  Form.prototype.answer = function (busy) {
    var shown = this.show(this.entries);
    var isGood = !shown.errors.length;
    this.mark(shown);
    if (!isGood && !this.last) {
      // An address with a bad entry: start from the others.
      var sound = {};
      for (var key in this.entries) {
        sound[key] = this.entries[key];
      }
      shown.errors.forEach(function (error) { delete sound[error.key]; });
      this.keep(this.show(sound));
    }
    this.keep(shown);
    if (isGood && this.full) {
      this.element.querySelector(".calc-tile__full").href = this.full + address.query(this.name, this.entries);
    } else if (isGood) {
      address.keep(this.name, this.entries);
    }
    if (this.last) {
      this.last.isOld = !isGood;
    }
    this.notice.hidden = isGood;
    this.notice.textContent = isGood ? "" : say(this.last ? WORDS.old : WORDS.none);
    this.result.className = "calc__result" + (isGood ? "" : " calc__result--old");
    this.fill(shown, busy);
  };

  /** Draws an answer that has no errors, and remembers it. */
  Form.prototype.keep = function (shown) {
    if (!shown.errors.length) {
      this.last = shown;
      calc.page.draw(this.result, shown);
    }
  };

  /** An answer; as a tile shows it: some rows, and no table or drawing. */
  Form.prototype.show = function (entries) {
    var shown = calc.show(this.record.id, entries, language);
    if (this.outputs) {
      var rows = [];
      this.outputs.forEach(function (key) {
        rows = rows.concat(shown.rows.filter(function (row) { return row.key === key; }));
      });
      shown.rows = rows.length ? rows : shown.rows.slice(0, 1);
      shown.tables = [];
      shown.drawing = "";
    }
    return shown;
  };

  /** Says beside each field what is wrong with it. */
  Form.prototype.mark = function (shown) {
    var fields = this.fields;
    for (var key in fields) {
      fields[key].error.hidden = true;
      fields[key].control.removeAttribute("aria-invalid");
    }
    shown.errors.forEach(function (error) {
      var field = fields[error.key];
      if (field && field.error.hidden) {
        field.error.textContent = error.text;
        field.error.hidden = false;
        field.control.setAttribute("aria-invalid", "true");
      }
    });
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
        calc.page.drawSources(this.fields[key].source, sources[key]);
      }
    }
    this.bar.textContent = this.summary();
  };

  var seen = {};
  Array.prototype.forEach.call(document.querySelectorAll(".calc[data-calc]"), function (place) {
    var id = place.getAttribute("data-calc");
    if (calc.records[id]) {
      seen[id] = (seen[id] || 0) + 1;
      new Form(place, seen[id] > 1 ? id + "-" + seen[id] : id);
    }
  });
})(this);
