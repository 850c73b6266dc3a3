/**
 * Speculative decoding: how much faster, and how much more work.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  /** Tokens one round yields: the accepted drafts and one of the target's own. */
  f.expectedTokens = function (acceptance, drafts) {
    return acceptance >= 1 ? drafts + 1 : (1 - Math.pow(acceptance, drafts + 1)) / (1 - acceptance);
  };

  /** Speed-up over plain decoding (Leviathan et al., theorem 3.8). */
  f.speculativeSpeedup = function (acceptance, drafts, cost) {
    return f.expectedTokens(acceptance, drafts) / (drafts * cost + 1);
  };

  /** Operations over those of plain decoding (theorem 3.11); draft: the draft's share a token. */
  f.speculativeOperations = function (acceptance, drafts, draft) {
    return (drafts * draft + drafts + 1) / f.expectedTokens(acceptance, drafts);
  };

  calc.add({
    id: "speculative",
    title: { zh: "投机解码", en: "Speculative decoding" },
    about: {
      zh: "草稿模型每轮猜 γ 个 token，目标模型一次验完：快多少，多算多少。",
      en: "A draft guesses γ tokens a round and the target checks them at once: how much faster, and how much more work."
    },
    note: "infer/speculative",
    inputs: [
      { key: "acceptance", label: { zh: "接受率 α", en: "Acceptance rate α" }, value: 0.8, min: 0, max: 1, help: { zh: "每个草稿 token 被接受的概率，0 到 1。", en: "Probability that a draft token is accepted, 0 to 1." } },
      { key: "drafts", label: { zh: "每轮草稿数 γ", en: "Drafts a round γ" }, kind: "integer", value: 5, min: 1, max: 100 },
      { key: "cost", label: { zh: "草稿一步 ÷ 目标一步的时间 c", en: "Time of a draft step over a target step, c" }, value: 0.05, min: 0, max: 1 },
      { key: "operations", label: { zh: "草稿 ÷ 目标的运算量", en: "Operations of the draft over the target's" }, value: 0.05, min: 0, max: 1 }
    ],
    outputs: [
      { key: "speedup", label: { zh: "加速", en: "Speed-up" }, unit: "×" },
      { key: "tokens", label: { zh: "每轮产出", en: "Tokens a round" } },
      { key: "work", label: { zh: "运算量之比", en: "Operations, against plain decoding" }, unit: "×" },
      { key: "best", label: { zh: "最快的 γ（至 20）", en: "Fastest γ (up to 20)" }, kind: "count" },
      { key: "best_speedup", label: { zh: "那时的加速", en: "Speed-up there" }, unit: "×" }
    ],
    formula: [
      "E[\\text{tokens}] = \\frac{1-\\alpha^{\\gamma+1}}{1-\\alpha}, \\qquad \\text{speed-up} = \\frac{1-\\alpha^{\\gamma+1}}{(1-\\alpha)(\\gamma c + 1)}"
    ],
    assumptions: [
      { zh: "各 token 的接受相互独立；验证 γ+1 个 token 与解码一个一样快，即目标模型仍受带宽限制（小批量时成立）。", en: "Acceptances are independent; checking γ+1 tokens is as fast as decoding one, so the target must be bandwidth bound (small batches)." }
    ],
    example: { inputs: { acceptance: 0.8, drafts: 5, cost: 0 }, says: { zh: "接受率 0.8、每轮五个、草稿不花时间：", en: "Acceptance 0.8, five drafts a round, drafts for free:" } },
    sources: [{ title: "Leviathan, Kalman, Matias: Fast Inference from Transformers via Speculative Decoding (arXiv 2211.17192)", url: "https://arxiv.org/abs/2211.17192", read: "2026-11-21" }],
    run: function (v) {
      var best = 1;
      for (var drafts = 2; drafts <= 20; drafts++) {
        if (f.speculativeSpeedup(v.acceptance, drafts, v.cost) > f.speculativeSpeedup(v.acceptance, best, v.cost)) {
          best = drafts;
        }
      }
      return {
        speedup: f.speculativeSpeedup(v.acceptance, v.drafts, v.cost),
        tokens: f.expectedTokens(v.acceptance, v.drafts),
        work: f.speculativeOperations(v.acceptance, v.drafts, v.operations),
        best: best, best_speedup: f.speculativeSpeedup(v.acceptance, best, v.cost)
      };
    },
    remarks: function (v, out) {
      return out.speedup < 1 ? [{ zh: "比不投机还慢：草稿太贵，或接受率太低。", en: "Slower than plain decoding: the draft costs too much or is accepted too seldom." }] : [];
    }
  });
})(this);
