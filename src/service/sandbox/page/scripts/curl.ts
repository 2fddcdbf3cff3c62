/** Commands for a POSIX shell that repeat a request, and the way to the clipboard. */
export const curlScript: string = String.raw`
/**
 * Quotes a word of a command if necessary.
 * @param {string} text
 */
function quote(text) {
  return /^[\w.:\/@-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

/** The most bytes of a body on one line: a terminal cuts a line after 4,095 characters. */
const BYTES_OF_LINE = 500;

/**
 * Arguments for printf %b, of printable ASCII only. A terminal takes control characters for keys and
 * commands, and U+007F, which deletes, would let an event end the quotes around it when it is pasted. Others
 * hide what is pasted.
 * @param {string} text
 */
function printfArguments(text) {
  const escaped = text.replace(/[^ -&(-[\]-~]+/g, (part) =>
    Array.from(new TextEncoder().encode(part), (byte) => '\\0' + byte.toString(8).padStart(3, '0')).join(''),
  );
  const lines = escaped.match(new RegExp('(?:\\\\0[0-7]{3}|[^\\\\]){1,' + BYTES_OF_LINE + '}', 'g')) ?? [''];
  return lines.map((line) => "'" + line + "'").join(' \\\n  ');
}

/**
 * The command that sends a body again with the same headers. The body comes from printf, because a long one
 * does not fit into an argument of a program, and a here-document would add a line feed.
 * @param {Attempt['request']} request
 */
function curlCommand({ url, headers, body }) {
  const options = Object.entries(headers)
    .filter(([name]) => name !== 'content-length')
    .map(([name, value]) => (name === 'authorization' ? credentials(value) : '-H ' + quote(name + ': ' + value)));
  // curl itself would send Accept. Without -g it would replace brackets in the address.
  const curl = ['curl -sSi -g', ...options, "-H 'accept:'", '--data-binary @-', quote(new URL(url).href)];
  return 'printf %b ' + printfArguments(body) + ' | \\\n' + curl.join(' \\\n  ');
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
 * The request as it was sent, apart from the credentials. In an attempt of the stream its address and its
 * body may be cut, which ends them with an ellipsis.
 * @param {Attempt} attempt
 * @returns {Promise<Attempt['request']>}
 */
async function wholeRequest({ event, webhook, at, changed, request }) {
  const { url, headers, body } = request;
  if (!url.endsWith('…') && !body.endsWith('…')) return request;
  /** @type {Attempt[]} */
  const attempts = await get('sandbox/deliveries?' + new URLSearchParams({ event, webhook }));
  const found = attempts.find((attempt) => attempt.at === at && attempt.changed === changed);
  if (found === undefined) throw new Error('The sandbox has forgotten this attempt.');
  return { url: found.request.url, headers, body: found.request.body };
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
