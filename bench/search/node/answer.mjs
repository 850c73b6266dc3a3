// Asks MiniSearch and FlexSearch every query. Arguments: library, input file, output file.
// Input: { documents: [{ id, language, title, text }], queries: [{ language, text }] }.
// Output: { version, build_ms, heap_mb, median_ms, p95_ms, answers: [[id, …], …] }.
//
// Both get the same reading of text: NFKC, lower case, Han bigrams, identifiers whole and in
// parts. Sections in the reader's language come first, as in the engines they are compared with.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [library, input, output] = process.argv.slice(2);
// The packages lie in a cache folder, this file in the repository.
const require = createRequire(pathToFileURL(process.cwd() + "/"));
const { documents, queries } = JSON.parse(readFileSync(input, "utf8"));

const WORDS = /[\p{Script=Han}]+|[\p{L}\p{N}]+(?:[_.\-/:+]+[\p{L}\p{N}]+)*/gu;
const PARTS = /[\p{Lu}]+(?![\p{Ll}])|[\p{Lu}]?[\p{Ll}]+|\p{N}+|\p{L}+/gu;

function tokens(text) {
  const found = [];
  for (const [word] of text.normalize("NFKC").matchAll(WORDS)) {
    if (/\p{Script=Han}/u.test(word)) {
      const letters = Array.from(word);
      if (letters.length === 1) { found.push(word); }
      for (let i = 0; i + 1 < letters.length; i++) { found.push(letters[i] + letters[i + 1]); }
      continue;
    }
    const whole = word.toLowerCase();
    found.push(whole);
    const parts = word.match(PARTS) || [];
    if (parts.length > 1) { for (const part of parts) { found.push(part.toLowerCase()); } }
  }
  return found;
}

const isHan = (term) => /\p{Script=Han}/u.test(term);

function miniSearch() {
  const MiniSearch = require("minisearch");
  const index = new MiniSearch({
    fields: ["title", "text"],
    storeFields: ["language"],
    tokenize: tokens,
    processTerm: (term) => term,
    searchOptions: {
      boost: { title: 4 },
      combineWith: "OR",
      prefix: (term, i, terms) => !isHan(term) && i === terms.length - 1,
      fuzzy: (term) => (!isHan(term) && term.length > 3 ? 0.2 : false),
    },
  });
  index.addAll(documents);
  return (query) => index.search(query).map((hit) => [hit.id, hit.language]);
}

async function flexSearch() {
  const FlexSearch = require("flexsearch");
  const index = new FlexSearch.Document({
    document: { id: "id", index: ["title", "text"] },
    tokenize: "forward",
    encode: tokens,
    context: false,
  });
  for (const one of documents) { index.add(one); }
  const languages = new Map(documents.map((one) => [one.id, one.language]));
  return (query) => {
    const scores = new Map();
    for (const { field, result } of index.search(query, { limit: 100, suggest: true })) {
      result.forEach((id, rank) => {
        const weight = field === "title" ? 4 : 1;
        scores.set(id, (scores.get(id) || 0) + weight / (rank + 1));
      });
    }
    const ids = [...scores.keys()].sort((a, b) => scores.get(b) - scores.get(a));
    return ids.map((id) => [id, languages.get(id)]);
  };
}

const started = performance.now();
const search = library === "minisearch" ? miniSearch() : await flexSearch();
const built = performance.now() - started;
globalThis.gc?.();
const heap = process.memoryUsage().heapUsed / 1e6;

const times = [];
const answers = queries.map(({ language, text }) => {
  const start = performance.now();
  const hits = search(text);
  times.push(performance.now() - start);
  const own = hits.filter(([, other]) => other === language);
  const rest = hits.filter(([, other]) => other !== language);
  return [...own, ...rest].slice(0, 10).map(([id]) => id);
});
times.sort((a, b) => a - b);
const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))];
const version = JSON.parse(
  readFileSync(process.cwd() + `/node_modules/${library}/package.json`, "utf8"),
).version;
writeFileSync(output, JSON.stringify({
  version, build_ms: built, heap_mb: heap, median_ms: at(0.5), p95_ms: at(0.95), answers,
}));
