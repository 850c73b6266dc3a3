/*
 * Tables of data, sortable by each column: a press on a head sorts upwards, another one
 * downwards, a third restores the order of the author. Cells that hold nothing stay last.
 * Without this script the tables are complete, only not sortable.
 */
(function () {
  "use strict";

  var NEXT = { none: "ascending", ascending: "descending", descending: "none" };

  function key(row, column) {
    var cell = row.cells[column];
    if (!cell || cell.classList.contains("facts__none")) {
      return null;
    }
    var number = cell.getAttribute("data-sort");
    return number === null ? cell.textContent.replace(/\s+/g, " ").trim() : parseFloat(number);
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") {
      return a - b;
    }
    if (typeof a !== typeof b) {
      return typeof a === "number" ? -1 : 1; // numbers before words
    }
    return a.localeCompare(b, document.documentElement.lang || undefined, { numeric: true });
  }

  function sort(table, rows, column, order) {
    var body = table.tBodies[0];
    var items = rows.map(function (row, index) {
      return { row: row, index: index, key: key(row, column) };
    });
    items.sort(function (a, b) {
      if (order === "none") {
        return a.index - b.index;
      }
      if (a.key === null || b.key === null) {
        return (a.key === null) - (b.key === null) || a.index - b.index;
      }
      var found = compare(a.key, b.key);
      return (order === "ascending" ? found : -found) || a.index - b.index;
    });
    items.forEach(function (item) {
      body.appendChild(item.row);
    });
  }

  function enhance(table) {
    var heads = Array.prototype.slice.call(table.tHead.rows[0].cells);
    var rows = Array.prototype.slice.call(table.tBodies[0].rows);
    if (rows.length < 2) {
      return;
    }
    heads.forEach(function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.className = "facts__sort";
      while (head.firstChild) {
        button.appendChild(head.firstChild);
      }
      head.appendChild(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", function () {
        var order = NEXT[head.getAttribute("aria-sort")];
        heads.forEach(function (other) {
          other.setAttribute("aria-sort", other === head ? order : "none");
        });
        sort(table, rows, column, order);
      });
    });
  }

  Array.prototype.forEach.call(
    document.querySelectorAll("table.facts__table--sortable"),
    enhance
  );
})();
