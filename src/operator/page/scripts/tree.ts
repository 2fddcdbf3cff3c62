/** A body of JSON as a tree. */
export const treeScript: string = `
/** The parts of an object or a list that are shown at first, and by each press of the button. */
const SHOWN_PARTS = 100;

/** The characters of a text that are shown at first: a browser is slow with millions. */
const SHOWN_CHARACTERS = 50_000;

/** A number as it was sent: 10.00 is not 10, and money may have more digits than a number of JavaScript. */
class SentNumber {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

/**
 * Throws for a text that is not JSON, or too deep.
 * @param {string} text
 */
function parseSent(text) {
  /** @type {(key: string, value: unknown, context?: { source?: string }) => unknown} */
  const keepNumber = (_key, value, context) =>
    typeof value === 'number' ? new SentNumber(context?.source ?? String(value)) : value;
  return JSON.parse(text, keepNumber);
}

/** @param {string} text */
function bodyParts(text) {
  const sent = element('details', '', element('summary', '', 'As it was sent, ' + text.length + ' characters'));
  sent.addEventListener('toggle', () => sent.append(...sentText(text)), { once: true });
  try {
    return [element('div', 'tree', ...branch('', parseSent(text), true)), sent];
  } catch {
    return [element('p', 'minor', 'The body is not JSON, or too deep for a tree.'), ...sentText(text)];
  }
}

/** @param {string} text */
function sentText(text) {
  const shown = element('pre', '', text.slice(0, SHOWN_CHARACTERS));
  // A reader reaches text that scrolls by the keyboard.
  shown.tabIndex = 0;
  if (text.length <= SHOWN_CHARACTERS) return [shown];
  const rest = button('Show all ' + text.length + ' characters', '', () => {
    shown.textContent = text;
    rest.remove();
    shown.focus();
  });
  return [shown, rest];
}

/**
 * The line of a value, with its parts below it once it is opened.
 * @param {string} name
 * @param {unknown} value
 * @param {boolean} isOpen
 * @returns {HTMLElement[]}
 */
function branch(name, value, isOpen) {
  const label = name === '' ? [] : [element('span', 'name', name), ': '];
  if (typeof value !== 'object' || value === null || value instanceof SentNumber)
    return [element('div', 'leaf', ...label, leafOf(value))];
  const isList = Array.isArray(value);
  const parts = Object.entries(value);
  if (parts.length === 0) return [element('div', 'leaf', ...label, isList ? '[]' : '{}')];
  const size = parts.length + (isList ? ' in a list' : parts.length === 1 ? ' member' : ' members');
  const opened = element('details', '', element('summary', '', ...label, element('span', 'minor', size)));
  if (isOpen) {
    opened.setAttribute('open', '');
    showParts(opened, parts, isList);
  } else opened.addEventListener('toggle', () => showParts(opened, parts, isList), { once: true });
  return [opened];
}

/**
 * Returns the first part that it has shown.
 * @param {Element} opened
 * @param {[string, unknown][]} parts
 * @param {boolean} isList
 */
function showParts(opened, parts, isList) {
  const shown = parts.slice(0, SHOWN_PARTS)
    .flatMap(([name, value]) => branch(isList ? name : JSON.stringify(name), value, false));
  opened.append(...shown);
  const rest = parts.slice(SHOWN_PARTS);
  if (rest.length > 0) opened.append(moreButton(opened, rest, isList));
  return shown[0];
}

/** @param {Parameters<typeof showParts>} all */
function moreButton(...all) {
  const more = button('Show more of the ' + all[1].length + ' that follow', '', () => {
    more.remove();
    const first = showParts(...all);
    if (first === undefined) return;
    // The button that had the focus is gone.
    first.tabIndex = -1;
    first.focus();
  });
  return more;
}

/** @param {unknown} value */
function leafOf(value) {
  if (value instanceof SentNumber) return element('span', 'number', value.text);
  const text = JSON.stringify(value);
  const cut = text.length > SHOWN_CHARACTERS ? '… ' + text.length + ' characters' : '';
  return element('span', typeof value, text.slice(0, SHOWN_CHARACTERS) + cut);
}
`;
