
  return { create: function () { return new Engine(); } };
})();
