/** Creates and finds elements of a page. Data becomes text nodes, never markup. */
export const elementsScript: string = `
/**
 * @param {string} name
 * @param {string} className
 * @param {(string | Node)[]} children
 */
function element(name, className, ...children) {
  const created = document.createElement(name);
  if (className !== '') created.className = className;
  created.append(...children);
  return created;
}

/** @param {string} id */
function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error('the page has no element ' + id);
  return found;
}

/** @param {string} id */
function select(id) {
  const found = byId(id);
  if (!(found instanceof HTMLSelectElement)) throw new Error(id + ' is not a select');
  return found;
}

/**
 * A button for one thing of many, which a screen reader names.
 * @param {string} text
 * @param {string} thing
 * @param {() => void} onClick
 */
function button(text, thing, onClick) {
  const created = document.createElement('button');
  created.type = 'button';
  created.className = 'quiet';
  created.append(text);
  if (thing !== '') created.setAttribute('aria-label', text + ' ' + thing);
  created.addEventListener('click', onClick);
  return created;
}

/**
 * Leaves an element with the same text alone, because a screen reader reads out each change of a status.
 * @param {Element} target
 * @param {string} text
 */
function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
`;
