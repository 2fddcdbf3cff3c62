/** The view that the fragment of the address names. The page's own address stays the same for each view. */
export const routeScript: string = `
/** The receiver that requests are about, empty if there is one only. */
const chosen = { receiver: '' };

/**
 * Reads a fragment such as #/dead-letters/evt_1?receiver=payments.
 * @returns {Route}
 */
function readRoute() {
  const [path = '', query = ''] = location.hash.replace(/^#\\/?/, '').split('?');
  const [view = '', id = ''] = path.split('/');
  return { view: view === '' ? 'dead-letters' : view, id: decoded(id), params: new URLSearchParams(query) };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * An id as part of a path. A hostile one may have half a character, which has no encoding.
 * @param {string} id
 */
function encoded(id) {
  return encodeURIComponent(id.toWellFormed());
}

/**
 * The address of a view. It names the page too, because the base of the page's files is another address.
 * @param {string} view
 * @param {string} [id]
 * @param {Record<string, string>} [params]
 */
function addressOf(view, id = '', params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== '');
  const query = new URLSearchParams(given);
  if (chosen.receiver !== '') query.set('receiver', chosen.receiver);
  const path = id === '' ? view : view + '/' + encoded(id);
  return location.pathname + location.search + '#/' + path + (query.size === 0 ? '' : '?' + query);
}

/**
 * @param {string} text
 * @param {Parameters<typeof addressOf>} address
 */
function link(text, ...address) {
  const created = element('a', '', text);
  created.setAttribute('href', addressOf(...address));
  return created;
}

/**
 * Goes to a view, or shows it anew.
 * @param {Parameters<typeof addressOf>} address
 */
function go(...address) {
  const target = new URL(addressOf(...address), location.href).href;
  if (target === location.href) void show();
  else location.assign(target);
}

/** @param {URLSearchParams} params */
function entriesOf(params) {
  return Object.fromEntries([...params].filter(([name]) => name !== 'receiver'));
}
`;
