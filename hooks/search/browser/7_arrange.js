  /* ---- What is handed to the search box ---------------------------------------------- */

  var VISIBLE = 4;          /* sections of a page shown without opening "N more" */

  function escapeHtml(text) {
    return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  }

  function crumbs(names) {
    return names.map(escapeHtml).join(" \u203a ");
  }

  function itemOf(hit, score) {
    var terms = {}, text = "";
    hit.terms.forEach(function (term) { terms[term] = true; });
    hit.missing.forEach(function (word) { terms[word] = false; });
    if (hit.path.length) { text += "<p class=\"search-crumbs\">" + crumbs(hit.path) + "</p>"; }
    if (hit.weak) {
      text += "<p class=\"search-weak\">\u2248 " + hit.repairs.map(escapeHtml).join(", ") + "</p>";
    }
    if (hit.excerpt_html) { text += "<p>" + hit.excerpt_html + "</p>"; }
    return {
      location: hit.location,
      title: hit.title_html +
        (hit.mark ? " <small class=\"search-kind\">" + escapeHtml(hit.mark) + "</small>" : ""), text: text, score: score, terms: terms
    };
  }

  /*
   * Sections by page, a page where its best section is. Scores fall along the list as shown,
   * because Enter opens the highest one: the section that matched, not its page. An answer that a fuller one will follow is marked, so
   * that a screen reader hears of the latter only (search-keys.js).
   */
  Engine.prototype.arrange = function (hits, isEarly) {
    var groups = [], byPage = Object.create(null);
    hits.forEach(function (hit) {
      var group = byPage[hit.page];
      if (!group) {
        group = byPage[hit.page] = { hits: [], best: hit.score };
        groups.push(group);
      }
      group.hits.push(hit);
    });
    return groups.map(function (group, index) {
      var top = 2 * (groups.length - index), article = false, shown = 0, first = group.hits[0];
      var items = group.hits.map(function (hit, at) {
        var isPage = hit.location.indexOf("#") === -1;
        var visible = at === 0 || isPage || (shown < VISIBLE && hit.score >= group.best * 0.3);
        var item = itemOf(hit, isPage && at ? top - 0.5 : visible ? top : top - 1);
        if (isEarly && !index && !at) { item.title += "<span class=\"search-early\"></span>"; }
        article = article || isPage;
        shown += visible ? 1 : 0;
        if (isPage) { dress(item, hit); }
        return item;
      });
      var page;
      /* The list puts sections below their page, so there must be one. */
      if (!article) {
        page = {
          location: first.location.split("#")[0], title: escapeHtml(first.page_title), text: "",
          score: 0, terms: itemOf(first, 0).terms
        };
        items.push(dress(page, first));
      }
      return items;
    });
  };

  /* What a page shows besides its title: where it stands, and its tags. */
  function dress(item, hit) {
    if (hit.trail.length) {
      item.title += " <small class=\"search-crumbs\">" + crumbs(hit.trail) + "</small>";
    }
    if (hit.tags.length) { item.tags = hit.tags.map(escapeHtml); }
    return item;
  }
