/*
 * The filter of the page of resources: by words, topic, kind, level, language and state.
 * What it offers is read from the rows, so that the page is complete without this script.
 * An address with #key always shows its entry: a filter that hides it is taken back.
 */
(function () {
  "use strict";

  var place = document.querySelector(".resources__filter");
  if (!place) {
    return;
  }
  var english = /^en/.test(document.documentElement.lang);
  var words = english
    ? {
        text: "Words", topics: "Topic", kind: "Kind", level: "Level", language: "Language",
        state: "State", all: "all", reset: "Show all", found: "{} of {} entries",
        unchecked: "unchecked", checked: "checked"
      }
    : {
        text: "包含文字", topics: "主题", kind: "类型", level: "程度", language: "语言",
        state: "核对", all: "全部", reset: "显示全部", found: "{} / {} 条",
        unchecked: "未核对", checked: "已核对"
      };
  var rows = Array.prototype.slice.call(document.querySelectorAll(".resources tbody > tr"));
  var tables = Array.prototype.slice.call(document.querySelectorAll(".resources"));
  var texts = rows.map(function (row) {
    var copy = row.cells[0].cloneNode(true);
    var cited = copy.querySelector("details");
    if (cited) {
      copy.removeChild(cited);
    }
    return (row.id + " " + copy.textContent).toLowerCase();
  });
  var controls = {};
  var output = document.createElement("output");

  function headingOf(table) {
    var found = table.previousElementSibling;
    return found && /^H\d$/.test(found.tagName) ? found : null;
  }

  /* Options in the order in which the page first shows them: [value, label]. */
  function options(name) {
    var column = { kind: 1, level: 2, language: 3 }[name];
    var seen = {};
    var found = [];
    if (name === "state") {
      return [["checked", words.checked], ["unchecked", words.unchecked]];
    }
    if (name === "topics") {
      tables.forEach(function (table) {
        var heading = headingOf(table);
        var first = table.querySelector("tbody > tr");
        if (heading && first) {
          found.push([first.getAttribute("data-topics").split(" ")[0],
            heading.textContent.replace("¶", "").trim()]);
        }
      });
      return found;
    }
    rows.forEach(function (row) {
      var value = row.getAttribute("data-" + name);
      if (!seen[value]) {
        seen[value] = true;
        found.push([value, row.cells[column].textContent,
          parseFloat(row.cells[column].getAttribute("data-sort")) || 0]);
      }
    });
    return found.sort(function (a, b) {
      return a[2] - b[2];
    });
  }

  function control(name) {
    var label = document.createElement("label");
    var field = document.createElement(name === "text" ? "input" : "select");
    label.appendChild(document.createTextNode(words[name]));
    if (name === "text") {
      field.type = "search";
    } else {
      [["", words.all]].concat(options(name)).forEach(function (item) {
        var option = document.createElement("option");
        option.value = item[0];
        option.textContent = item[1];
        field.appendChild(option);
      });
    }
    field.addEventListener(name === "text" ? "input" : "change", show);
    label.appendChild(field);
    place.appendChild(label);
    controls[name] = field;
  }

  function fits(row, text) {
    var wanted = controls.text.value.toLowerCase().split(/\s+/);
    var state = controls.state.value;
    var isOpen = row.getAttribute("data-state") === "unchecked" ? "unchecked" : "checked";
    if (state && state !== isOpen) {
      return false;
    }
    var isMeant = ["kind", "level", "language"].every(function (name) {
      return !controls[name].value || controls[name].value === row.getAttribute("data-" + name);
    });
    var topics = " " + row.getAttribute("data-topics") + " ";
    return isMeant && topics.indexOf(controls.topics.value ? " " + controls.topics.value + " " : " ") >= 0 &&
      wanted.every(function (word) {
        return text.indexOf(word) >= 0;
      });
  }

  function show() {
    var count = 0;
    rows.forEach(function (row, index) {
      row.hidden = !fits(row, texts[index]);
      count += row.hidden ? 0 : 1;
    });
    tables.forEach(function (table) {
      var heading = headingOf(table);
      table.hidden = !table.querySelector("tbody > tr:not([hidden])");
      if (heading) {
        heading.hidden = table.hidden;
      }
    });
    output.textContent = words.found.replace("{}", count).replace("{}", rows.length);
  }

  function reset() {
    Object.keys(controls).forEach(function (name) {
      controls[name].value = "";
    });
    show();
  }

  function reveal() {
    var key = decodeURIComponent(location.hash.slice(1));
    var target = key && document.getElementById(key);
    if (target && target.hidden) {
      reset();
      target.scrollIntoView();
    }
  }

  ["text", "topics", "kind", "level", "language", "state"].forEach(control);
  var button = document.createElement("button");
  button.type = "button";
  button.textContent = words.reset;
  button.addEventListener("click", reset);
  place.appendChild(button);
  place.appendChild(output);
  output.setAttribute("aria-live", "polite");
  window.addEventListener("hashchange", reveal);
  show();
})();
