/** Entries of calculators in the address of a page, by which a result is shared and kept. */
(function (root) {
  "use strict";

  /** The address's parameters in order: [[name, value]]; what cannot be decoded stays as it is. */
  function parameters() {
    var found = [];
    var parts = root.location.search.replace(/^\?/, "").split("&");
    for (var i = 0; i < parts.length; i++) {
      if (parts[i]) {
        var cut = parts[i].indexOf("=");
        var pair = cut < 0 ? [parts[i], ""] : [parts[i].slice(0, cut), parts[i].slice(cut + 1)];
        try {
          found.push([decodeURIComponent(pair[0]), decodeURIComponent(pair[1].replace(/\+/g, " "))]);
        } catch (error) {
          found.push(pair);
        }
      }
    }
    return found;
  }

  function entriesInAddress(name, record) {
    var entries = {};
    var found = parameters();
    for (var i = 0; i < found.length; i++) {
      var key = found[i][0].indexOf(name + ".") === 0 ? found[i][0].slice(name.length + 1) : "";
      for (var k = 0; k < record.inputs.length; k++) {
        if (record.inputs[k].key === key) {
          entries[key] = found[i][1].slice(0, 60);
        }
      }
    }
    return entries;
  }

  function encode(text) {
    return encodeURIComponent(text).replace(/%20/g, "+").replace(/%2C/g, ",");
  }

  /** The address with a calculator's entries; other parameters and the fragment stay. */
  function addressWith(name, entries) {
    var found = parameters();
    var parts = [];
    for (var i = 0; i < found.length; i++) {
      if (found[i][0].indexOf(name + ".") !== 0) {
        parts.push(encode(found[i][0]) + (found[i][1] ? "=" + encode(found[i][1]) : ""));
      }
    }
    for (var key in entries) {
      parts.push(name + "." + key + "=" + encode(entries[key]));
    }
    var base = root.location.href.split("#")[0].split("?")[0];
    return base + (parts.length ? "?" + parts.join("&") : "") + root.location.hash;
  }

  /** Entries as the address of the calculator's own page takes them. */
  function query(name, entries) {
    var parts = [];
    for (var key in entries) {
      parts.push(name + "." + key + "=" + encode(entries[key]));
    }
    return parts.length ? "?" + parts.join("&") : "";
  }

  function keepInAddress(name, entries) {
    try {
      root.history.replaceState(root.history.state, "", addressWith(name, entries));
    } catch (error) {
      // Some browsers forbid it for files; the button still copies the address.
    }
  }

  root.calc.address = { entries: entriesInAddress, full: addressWith, keep: keepInAddress, query: query };
})(this);
