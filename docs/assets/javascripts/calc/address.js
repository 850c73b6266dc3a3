/** Entries of calculators in the address of a page, by which a result is shared and kept. */
(function (root) {
  "use strict";

  /** The address's parameters in order: [[name, value]]; what cannot be decoded stays as it is. */
  function parameters() {
    return root.location.search.replace(/^\?/, "").split("&").filter(Boolean).map(function (part) {
      var cut = part.indexOf("=");
      var pair = cut < 0 ? [part, ""] : [part.slice(0, cut), part.slice(cut + 1)];
      try {
        return [decodeURIComponent(pair[0]), decodeURIComponent(pair[1].replace(/\+/g, " "))];
      } catch (error) {
        return pair;
      }
    });
  }

  function entriesInAddress(name, record) {
    var entries = {};
    parameters().forEach(function (pair) {
      record.inputs.forEach(function (input) {
        if (pair[0] === name + "." + input.key) {
          entries[input.key] = pair[1].slice(0, 60);
        }
      });
    });
    return entries;
  }

  function encode(text) {
    return encodeURIComponent(text).replace(/%20/g, "+").replace(/%2C/g, ",");
  }

  /** Entries as the address of the calculator's own page takes them; `others` go before them. */
  function query(name, entries, others) {
    var parts = (others || []).map(function (pair) {
      return encode(pair[0]) + (pair[1] ? "=" + encode(pair[1]) : "");
    });
    for (var key in entries) {
      parts.push(name + "." + key + "=" + encode(entries[key]));
    }
    return parts.length ? "?" + parts.join("&") : "";
  }

  /** The address with a calculator's entries; other parameters and the fragment stay. */
  function addressWith(name, entries) {
    var others = parameters().filter(function (pair) { return pair[0].indexOf(name + ".") !== 0; });
    var base = root.location.href.split("#")[0].split("?")[0];
    return base + query(name, entries, others) + root.location.hash;
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
