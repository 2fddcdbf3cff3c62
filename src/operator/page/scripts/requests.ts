/** Requests to the interface. */
export const requestsScript: string = `
/** An answer that is not a success, or a request without an answer. */
class RequestError extends Error {
  /**
   * @param {string} message
   * @param {string} code
   */
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/**
 * The path of one thing of a list.
 * @param {string} list
 * @param {string} id
 */
function pathOf(list, id) {
  if (id !== '.' && id !== '..') return list + '/' + encoded(id);
  // A browser takes these parts out of an address.
  throw new RequestError(
    'An event with the id ' + id + ' has no address of its own. Choose it by its check box in the list.',
    'id_without_address',
  );
}

/**
 * The part of the answer that the page reads is of type T.
 * @template T
 * @param {string} path
 * @param {Record<string, string>} [query]
 * @returns {Promise<T>}
 */
async function get(path, query = {}) {
  return answerTo(path, query, {});
}

/**
 * @template T
 * @param {string} path
 * @param {object} body
 * @returns {Promise<T>}
 */
async function post(path, body) {
  const headers = { 'content-type': 'application/json' };
  return answerTo(path, {}, { method: 'POST', headers, body: JSON.stringify(body) });
}

/**
 * @param {string} path
 * @param {Record<string, string>} query
 * @param {RequestInit} options
 */
async function answerTo(path, query, options) {
  const { receiver } = chosen;
  const all = new URLSearchParams(receiver === '' ? query : { ...query, receiver });
  const url = 'api/' + path + (all.size === 0 ? '' : '?' + all);
  const response = await fetch(url, { ...options, redirect: 'manual' }).catch(() => {
    throw new RequestError('The application does not answer. Is it running, and the network there?', 'unreachable');
  });
  const answer = await response.json().catch(() => undefined);
  if (response.ok && answer !== undefined) return answer;
  throw refusalOf(response, answer);
}

const RELOAD = 'a proxy or a sign-in page has sent it. Reload this page, and sign in again if you are asked to.';

/**
 * @param {Response} response
 * @param {{ code?: string, detail?: string } | undefined} answer
 */
function refusalOf({ status, type }, answer) {
  const { code, detail = '' } = answer ?? {};
  if (code === 'forbidden')
    return new RequestError('You may not use this page any more. Sign in again, then reload it.', code);
  if (code !== undefined) return new RequestError(detail, code);
  // The browser does not tell where a redirect leads.
  const what = type === 'opaqueredirect' ? 'The answer, a redirect,' : 'The answer, with status ' + status + ',';
  return new RequestError(what + ' is not from posthorn: ' + RELOAD, 'foreign_answer');
}
`;
