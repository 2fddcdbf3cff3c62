/** The fields of filters. */
export const fieldsScript: string = `
/**
 * @typedef {{
 *   name: string, label: string, kind: 'text' | 'time' | 'choice', hint?: string,
 *   options?: readonly string[],
 * }} Field
 */

let fieldCount = 0;

/**
 * A labelled field with the value that the address has.
 * @param {Field} field
 * @param {string} value
 */
function labelled({ name, label, kind, options = [], hint = '' }, value) {
  fieldCount += 1;
  const id = name + '-' + fieldCount;
  const field = kind === 'choice' ? choiceOf(options, value) : inputOf(kind, hint, value);
  field.id = id;
  field.name = name;
  const text = element('label', '', label);
  text.setAttribute('for', id);
  return element('span', 'field', text, field);
}

/**
 * @param {readonly string[]} options
 * @param {string} value
 */
function choiceOf(options, value) {
  const created = document.createElement('select');
  created.append(new Option('all', ''), ...options.map((option) => new Option(option)));
  created.value = value;
  return created;
}

/**
 * @param {string} kind
 * @param {string} hint
 * @param {string} value
 */
function inputOf(kind, hint, value) {
  const created = document.createElement('input');
  created.type = kind === 'time' ? 'datetime-local' : 'text';
  if (kind === 'time') created.step = '1';
  else created.spellcheck = false;
  created.placeholder = kind === 'time' ? '' : hint;
  created.autocomplete = 'off';
  created.value = kind === 'time' ? localTime(value) : value;
  return created;
}

/**
 * A form whose values become those of the address.
 * @param {string} view
 * @param {Field[]} fields
 * @param {URLSearchParams} params
 */
function filterForm(view, fields, params) {
  const form = document.createElement('form');
  form.className = 'filter';
  form.setAttribute('aria-label', 'Filter');
  const submit = button('Filter', '', () => {});
  submit.setAttribute('type', 'submit');
  form.append(...fields.map((field) => labelled(field, params.get(field.name) ?? '')), submit, link('Clear', view));
  form.addEventListener('submit', (submission) => {
    submission.preventDefault();
    go(view, '', filterOf(form, fields, params));
  });
  return form;
}

/**
 * @param {HTMLFormElement} form
 * @param {Field[]} fields
 * @param {URLSearchParams} params
 */
function filterOf(form, fields, params) {
  const data = new FormData(form);
  return Object.fromEntries(fields.map(({ name, kind }) => {
    const text = String(data.get(name) ?? '').trim();
    if (kind !== 'time' || text === '') return [name, text];
    const given = params.get(name) ?? '';
    // A local time has no milliseconds, and the end of summer time has an hour twice.
    const isSame = millisecondsOf(text) === millisecondsOf(localTime(given));
    return [name, isSame ? given : millisecondsOf(text)];
  }));
}

/**
 * The members of a selection, which has numbers for times.
 * @param {URLSearchParams} params
 */
function selectionOf(params) {
  return Object.fromEntries(
    Object.entries(entriesOf(params))
      .filter(([name]) => name !== 'after')
      .map(([name, value]) => [name, name === 'since' || name === 'until' ? Number(value) : value]),
  );
}

/**
 * The links to other pages of a list. The place of a page is in the address, so the browser's way back works.
 * @param {string} view
 * @param {URLSearchParams} params
 * @param {string | undefined} after
 */
function pager(view, params, after) {
  const { after: place, ...filter } = entriesOf(params);
  const links = [
    ...(place === undefined ? [] : [link('First page', view, '', filter)]),
    ...(after === undefined ? [] : [link('Next page', view, '', { ...filter, after })]),
  ];
  const created = element('nav', 'pager', ...links);
  created.setAttribute('aria-label', 'Pages');
  return links.length === 0 ? [] : [created];
}

/** Check boxes of a list, and the ids that are checked. */
class Choice {
  /** @type {Set<string>} */
  ids = new Set();
  /** @type {HTMLInputElement[]} */
  boxes = [];

  /** @param {() => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
  }

  /**
   * @param {string} id
   * @param {string} name
   */
  box(id, name) {
    const created = document.createElement('input');
    created.type = 'checkbox';
    created.setAttribute('aria-label', name);
    created.addEventListener('change', () => this.set(id, created));
    this.boxes.push(created);
    return created;
  }

  /** A check box for all of this page. */
  all() {
    const created = document.createElement('input');
    created.type = 'checkbox';
    created.addEventListener('change', () => {
      for (const box of this.boxes) if (box.checked !== created.checked) box.click();
    });
    return element('label', 'all', created, ' All of this page');
  }

  /**
   * @param {string} id
   * @param {HTMLInputElement} box
   */
  set(id, box) {
    if (box.checked) this.ids.add(id);
    else this.ids.delete(id);
    this.onChange();
  }
}
`;
