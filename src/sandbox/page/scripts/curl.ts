/** Commands for a POSIX shell that repeat a request, and the way to the clipboard. */
export const curlScript: string = String.raw`
/**
 * Quotes a word of a command if necessary.
 * @param {string} text
 */
function quote(text) {
  return /^[\w.:\/@-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

/**
 * The command that sends a body again with the same headers. The body comes from printf, because a long one
 * does not fit into an argument of a program, and a here-document would add a line feed.
 * @param {Attempt['request']} request
 * @param {string} body
 */
function curlCommand({ url, headers }, body) {
  const options = Object.entries(headers)
    .filter(([name]) => name !== 'content-length')
    .map(([name, value]) => (name === 'authorization' ? credentials(value) : '-H ' + quote(name + ': ' + value)));
  // curl itself would send Accept. Without -g it would replace brackets in the address.
  const curl = ['curl -sSi -g', ...options, "-H 'accept:'", '--data-binary @-', quote(new URL(url).href)];
  return 'printf %s ' + quote(body) + ' | \\\n' + curl.join(' \\\n  ');
}

/**
 * The page does not have the credentials, so the reader sets variables. The shell refuses to go on without.
 * @param {string} authorization
 */
function credentials(authorization) {
  return authorization.startsWith('Basic')
    ? '-u "$' + '{BASIC_USERNAME:?}:$' + '{BASIC_PASSWORD:?}"'
    : '-H "authorization: Bearer $' + '{BEARER_TOKEN:?}"';
}

/** @param {Attempt['request']} request */
function credentialsHint({ headers: { authorization } }) {
  if (authorization === undefined) return '';
  const names = authorization.startsWith('Basic') ? 'BASIC_USERNAME and BASIC_PASSWORD' : 'BEARER_TOKEN';
  return ' Set ' + names + ' first: the page does not have the credentials of the webhook.';
}

/**
 * The body as it was sent. That of an attempt of the stream may be cut, which ends it with an ellipsis.
 * @param {Attempt} attempt
 * @returns {Promise<string>}
 */
async function wholeBody({ event, webhook, at, changed, request }) {
  if (!request.body.endsWith('…')) return request.body;
  /** @type {Attempt[]} */
  const attempts = await get('sandbox/deliveries?' + new URLSearchParams({ event, webhook }));
  const found = attempts.find((attempt) => attempt.at === at && attempt.changed === changed);
  if (found === undefined) throw new Error('The sandbox has forgotten this attempt.');
  return found.request.body;
}

/**
 * Copies a text out of a field. Browsers give the clipboard only to pages of this machine or of HTTPS;
 * elsewhere the reader copies what is selected.
 * @param {HTMLTextAreaElement} field
 */
async function copy(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return 'Copied.';
  } catch {
    field.focus();
    field.select();
    return 'The browser does not allow to copy it: press Ctrl+C or ⌘C.';
  }
}
`;
