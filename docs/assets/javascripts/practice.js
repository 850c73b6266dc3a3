/**
 * Practice for interviews: one question at a time, in random order, the answer when it is asked for.
 *
 * The questions come from a script beside the page, so that a folder on a disk will do. What is
 * known and what must come again is kept on this device only, and where a browser keeps nothing,
 * until the page is left. Without this script the page lists every question.
 */
(function () {
  "use strict";

  var STORE = "handbook-interview";
  var LATER = 4; // how many questions come before one that must come again
  var zh = /^zh/.test(document.documentElement.lang);
  var SAY = zh ? {
    subject: "科目", level: "级别", asks: "问法", which: "范围", all: "全部", open: "没掌握的",
    again: "要再练的", known: "会了", repeat: "再来一次", next: "下一题", back: "上一题",
    short: "看三十秒回答", more: "看三分钟与追问", reset: "清除进度", none: "这样选没有题目：放宽一项。",
    sure: "进度会从这台设备上清除。再按一次确认。", lost: "浏览器不许保存：进度只到离开本页为止。",
    page: "在原页打开", group: "练习", chosen: "选题",
    count: function (at, all, known, again) {
      return "第 " + at + " / " + all + " 题；会了 " + known + "，要再练 " + again;
    },
    keys: "键盘：1 三十秒，2 三分钟，3 再来一次，4 会了，← → 前后。"
  } : {
    subject: "Subject", level: "Level", asks: "Kind", which: "Which", all: "all", open: "not yet known",
    again: "to come again", known: "Known", repeat: "Again", next: "Next", back: "Previous",
    short: "Show thirty seconds", more: "Show three minutes", reset: "Clear progress",
    none: "No question is like this: widen one choice.",
    sure: "Progress will be cleared on this device. Press again to confirm.",
    lost: "The browser keeps nothing: progress lasts until you leave the page.",
    page: "Open on its page", group: "Practice", chosen: "Choose questions",
    count: function (at, all, known, again) {
      return "Question " + at + " of " + all + "; known " + known + ", again " + again;
    },
    keys: "Keys: 1 thirty seconds, 2 three minutes, 3 again, 4 known, ← → back and forth."
  };

  /* Progress ------------------------------------------------------------------------------- */

  var keeps = true;

  function load() {
    var found = null;
    try {
      found = JSON.parse(window.localStorage.getItem(STORE) || "{}");
      window.localStorage.setItem(STORE, JSON.stringify(found || {}));
    } catch (error) {
      keeps = false;
    }
    return found && typeof found === "object" && !Array.isArray(found) ? found : {};
  }

  function save(progress) {
    try {
      window.localStorage.setItem(STORE, JSON.stringify(progress));
    } catch (error) {
      keeps = false;
    }
  }

  /* Small things --------------------------------------------------------------------------- */

  function make(parent, tag, name, text) {
    var node = document.createElement(tag);
    if (name) {
      node.className = name;
    }
    if (text) {
      node.textContent = text;
    }
    parent.appendChild(node);
    return node;
  }

  function button(parent, name, text, act) {
    var node = make(parent, "button", "practice__button practice__button--" + name, text);
    node.type = "button";
    node.addEventListener("click", act);
    return node;
  }

  function shuffled(items) {
    return items.map(function (item) { return [Math.random(), item]; }).sort(function (a, b) {
      return a[0] - b[0];
    }).map(function (pair) { return pair[1]; });
  }

  function asked(name) {
    var match = new RegExp("[?&]" + name + "=([^&#]*)").exec(window.location.search);
    return match ? decodeURIComponent(match[1]) : "";
  }

  /* The box -------------------------------------------------------------------------------- */

  function start(box) {
    var data = window.handbookQuestions;
    if (!data || box.getAttribute("data-ready")) {
      return;
    }
    box.setAttribute("data-ready", "");
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", SAY.group);
    var progress = load();
    var queue = [];
    var at = 0;
    var isSure = false;
    box.textContent = "";

    var form = make(box, "div", "practice__choices");
    form.setAttribute("role", "group");
    form.setAttribute("aria-label", SAY.chosen);
    var choices = {
      subject: select("subject", data.subjects),
      level: select("level", data.levels),
      asks: select("asks", data.asks),
      which: select("which", { open: SAY.open, again: SAY.again })
    };
    var given = asked("subject");
    if (data.subjects[given]) {
      choices.subject.value = given;
    }

    var status = make(box, "p", "practice__status");
    status.setAttribute("role", "status");
    var card = make(box, "div", "practice__card");
    var title = make(card, "h3", "practice__question");
    title.tabIndex = -1;
    var facts = make(card, "p", "question__facts");
    var body = make(card, "div", "practice__answer");
    var link = make(make(card, "p", "practice__page"), "a", "", SAY.page);

    var bar = make(box, "div", "practice__bar");
    var short = button(bar, "short", SAY.short, reveal.bind(null, 0));
    var more = button(bar, "more", SAY.more, reveal.bind(null, 1));
    var again = button(bar, "again", SAY.repeat, mark.bind(null, "again"));
    var known = button(bar, "known", SAY.known, mark.bind(null, "known"));
    button(bar, "back", SAY.back, step.bind(null, -1));
    button(bar, "next", SAY.next, step.bind(null, 1));

    var foot = make(box, "p", "practice__foot");
    make(foot, "span", "practice__keys", SAY.keys + " ");
    var note = make(foot, "span", "practice__note");
    note.setAttribute("role", "status");
    var reset = button(foot, "reset", SAY.reset, clear);

    function select(name, options) {
      var label = make(form, "label", "practice__choice", SAY[name]);
      var node = make(label, "select");
      make(node, "option", "", SAY.all).value = "";
      Object.keys(options).forEach(function (key) {
        make(node, "option", "", options[key]).value = key;
      });
      node.addEventListener("change", function () {
        choose(false);
      });
      return node;
    }

    function fits(question) {
      var which = choices.which.value;
      var mark = progress[question.key];
      return (!choices.subject.value || question.subject === choices.subject.value) &&
        (!choices.level.value || String(question.level) === choices.level.value) &&
        (!choices.asks.value || question.asks === choices.asks.value) &&
        (!which || (which === "open" ? mark !== "known" : mark === "again"));
    }

    function choose(moves) {
      queue = shuffled(data.questions.filter(fits));
      at = 0;
      show(moves);
    }

    function count(mark) {
      return data.questions.filter(function (question) {
        return progress[question.key] === mark;
      }).length;
    }

    function show(moves) {
      var question = queue[at];
      card.hidden = bar.hidden = !question;
      status.textContent = question
        ? SAY.count(at + 1, queue.length, count("known"), count("again"))
        : SAY.none;
      note.textContent = keeps ? "" : SAY.lost;
      isSure = false;
      if (!question) {
        return;
      }
      title.textContent = question.question;
      facts.textContent = data.subjects[question.subject] + " · " + question.facts;
      body.innerHTML = question.html; // written by the build, from the same notes as the page
      // Before an answer is asked for, what to read would give it away.
      var read = body.querySelector(".question__read");
      if (read) {
        read.hidden = true;
      }
      Array.prototype.forEach.call(body.querySelectorAll("table"), boxed);
      link.href = question.href;
      again.setAttribute("aria-pressed", String(progress[question.key] === "again"));
      known.setAttribute("aria-pressed", String(progress[question.key] === "known"));
      Array.prototype.forEach.call(body.querySelectorAll("details.question__answer"), function (fold) {
        fold.addEventListener("toggle", told);
      });
      told();
      if (moves) {
        title.focus();
      }
    }

    /** Puts a table into the boxes that scroll, as the theme does when a page loads. */
    function boxed(table) {
      var box = document.createElement("div");
      box.className = "md-typeset__scrollwrap";
      table.parentNode.insertBefore(box, table);
      make(box, "div", "md-typeset__table").appendChild(table);
    }

    /** Says on the buttons which answer is open. */
    function told() {
      var folds = body.querySelectorAll("details.question__answer");
      var read = body.querySelector(".question__read");
      [short, more].forEach(function (one, index) {
        one.setAttribute("aria-expanded", String(Boolean(folds[index] && folds[index].open)));
      });
      if (read && folds[1] && folds[1].open) {
        read.hidden = false;
      }
    }

    function reveal(index) {
      var fold = body.querySelectorAll("details.question__answer")[index];
      if (fold) {
        fold.open = !fold.open;
        told();
      }
    }

    function mark(name) {
      var question = queue[at];
      if (!question) {
        return;
      }
      progress[question.key] = name;
      save(progress);
      if (name === "again") {
        queue.splice(Math.min(at + LATER, queue.length), 0, question);
      }
      step(1);
    }

    function step(by) {
      var to = at + by;
      if (to >= queue.length) {
        choose(true); // a new round, in another order
      } else if (to >= 0) {
        at = to;
        show(true);
      }
    }

    function clear() {
      if (!isSure) {
        isSure = true;
        note.textContent = SAY.sure;
        return;
      }
      progress = {};
      save(progress);
      choose(false);
      reset.focus();
    }

    box.addEventListener("keydown", function (event) {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target.tagName === "SELECT") {
        return;
      }
      var act = {
        "1": short, "2": more, "3": again, "4": known,
        ArrowLeft: bar.querySelector(".practice__button--back"),
        ArrowRight: bar.querySelector(".practice__button--next")
      }[event.key];
      if (act && !bar.hidden) {
        event.preventDefault();
        act.click();
      }
    });

    choose(false);
    if (given) {
      title.focus();
    }
  }

  Array.prototype.forEach.call(document.querySelectorAll(".practice[data-practice]"), start);
})();
