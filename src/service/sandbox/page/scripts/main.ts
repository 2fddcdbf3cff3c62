/** Reads the stream, and hands each message to the parts of the page. */
export const mainScript: string = `
// The advised commands name the address that this page came from, as its reader sees it.
for (const address of document.querySelectorAll('.address')) {
  setText(address, quote(document.baseURI.replace(/\\/$/, '')));
}

const connection = byId('connection');
const stream = new EventSource('sandbox/stream');

stream.addEventListener('open', () => {
  connection.className = 'badge good';
  setText(connection, 'live');
});

// The browser reconnects by itself, and gets everything again.
stream.addEventListener('error', () => {
  connection.className = 'badge bad';
  setText(connection, 'the sandbox does not answer');
});

stream.addEventListener('message', ({ data }) => {
  /** @type {Activity} */
  const activity = JSON.parse(data);
  readClock(activity);
  showWebhooks(activity);
  showQuotes(activity);
  showEvents(activity);
});

setInterval(() => {
  showClock();
  countDownQuotes();
  countDownEvents();
}, 1000);
`;
