import { codeMeanings, outcomeMeanings } from '../meanings.ts';

/** Outcomes, codes and facts in words. */
export const wordsScript: string = `
/** @typedef {{ badge: string, means: string, todo: string }} Meaning */

/** @type {ReadonlyMap<string, Meaning>} */
const outcomeMeanings = new Map(${JSON.stringify(Object.entries(outcomeMeanings))});

/** @type {ReadonlyMap<string, { means: string, todo: string }>} */
const codeMeanings = new Map(${JSON.stringify(Object.entries(codeMeanings))});

/** @param {string} outcome */
function badge(outcome) {
  const meaning = outcomeMeanings.get(outcome);
  const created = element('span', 'badge ' + (meaning?.badge ?? 'ignored'), outcome);
  if (meaning !== undefined) created.title = meaning.means;
  return created;
}

/**
 * @param {number} count
 * @param {string} singular
 */
function counted(count, singular) {
  return count.toLocaleString('en') + ' ' + singular + (count === 1 ? '' : 's');
}

/** @param {number} count */
function times(count) {
  return count === 1 ? 'once' : counted(count, 'time');
}

/**
 * The type of an event, or other words for one that has nothing to see and to press.
 * @param {string | undefined} type
 * @param {string} otherwise
 */
function typeText(type, otherwise) {
  return type !== undefined && /[^\\s\\p{C}]/u.test(type) ? type : otherwise;
}

/**
 * Pairs of a name and a value. A value that is missing leaves its name out.
 * @param {[string, string | number | Node | undefined][]} facts
 */
function factList(facts) {
  const known = facts.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  return element('dl', 'facts', ...known.map(({ name, value }) =>
    element('div', '', element('dt', '', name), element('dd', '', value instanceof Node ? value : String(value))),
  ));
}

/**
 * A section with a heading.
 * @param {string} title
 * @param {(string | Node)[]} parts
 */
function section(title, ...parts) {
  return element('section', '', element('h3', '', title), ...parts);
}

/**
 * The meaning of a code, and the next step. Handlers and applications may have codes of their own.
 * @param {string} code
 */
function codeParts(code) {
  const meaning = codeMeanings.get(code);
  if (meaning === undefined) return [];
  return [element('p', '', meaning.means), nextStep(meaning.todo)];
}

/** @param {string} text */
function nextStep(text) {
  return element('p', '', element('strong', '', 'Next step: '), text);
}

/**
 * @param {string[]} handled
 * @param {string} rest
 */
function handledText(handled, rest) {
  if (handled.length === 0) return 'No named handler has finished it.';
  return 'Finished: ' + handled.join(', ') + '. ' + rest;
}

/** @param {Content} content */
function contentSections({ body, headers }) {
  if (body === undefined) return [section('Body', element('p', 'minor', noBodyText()))];
  const lines = Object.entries(headers ?? {}).flatMap(([name, values]) => values.map((value) => name + ': ' + value));
  const head = element('pre', '', lines.join('\\n'));
  head.tabIndex = 0;
  return [
    section('Body', ...bodyParts(body)),
    section('Headers', lines.length === 0 ? element('p', 'minor', 'None are kept.') : head),
  ];
}

function noBodyText() {
  return known.operator.bodies
    ? 'The journal has no body of this event.'
    : 'Bodies and headers are not shown to you: the application decides who sees them.';
}
`;
