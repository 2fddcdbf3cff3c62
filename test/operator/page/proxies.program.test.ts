import { type IncomingMessage, type RequestListener, request } from 'node:http';
import { toNodeOperator } from 'posthorn/operator';
import { expect, onTestFinished, test } from 'vitest';
import { sharedBrowser } from '../../service/sandbox/browser.ts';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { ada, type MountOptions } from '../mounts.ts';
import { createOperated, letters, type Operated } from '../operated.ts';
import { press, told } from './dialog.ts';
import { openAt } from './looks.ts';

/** Passes requests on to a server of this machine, under another Host and perhaps another path. */
function passOn(inner: string, pathOf: (path: string) => string): RequestListener {
  const { host, hostname, port } = new URL(inner);
  return (incoming, response) => {
    const { headers, method, url = '' } = incoming;
    const sent = { hostname, port, method, path: pathOf(url), headers: { ...headers, host }, agent: false };
    const outgoing = request(sent, (answer: IncomingMessage) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  };
}

/** Serves the interface at /operator, behind a proxy that shows it at /backoffice. */
async function serveBehind({ receiver }: Operated, hasOrigin: boolean): Promise<string> {
  let mount: MountOptions = ada;
  const inner = await listenUntilTheEnd((incoming, response) =>
    toNodeOperator(receiver, { ...ada, ...mount })(incoming, response),
  );
  const proxy = passOn(inner, (path) => path.replace('/backoffice', '/operator'));
  // A name, because browsers send Sec-Fetch-Site to localhost as over TLS.
  const origin = (await listenUntilTheEnd(proxy)).replace('127.0.0.1', 'localhost');
  if (hasOrigin) mount = { ...ada, origin };
  return `${origin}/backoffice`;
}

test.each([
  { name: 'with the option origin', hasOrigin: true },
  { name: 'by Sec-Fetch-Site alone', hasOrigin: false },
])('behind a proxy with another address, a deed is done $name', async ({ hasOrigin }) => {
  const operated = createOperated({ parked: letters(2) });
  const url = await serveBehind(operated, hasOrigin);
  const { asked, faults, page } = await openAt(`${url}/`);
  await press(page, 'Replay all that match…');
  await press(page, 'Replay 2');
  await told(page, 'Done: 2 processed.');
  expect(operated.handled.length).toBe(2);
  expect(asked.filter((each) => !each.startsWith(`${url}/`))).toEqual([]);
  expect(faults).toEqual([]);
});

test('a server that takes the slash at the end away has the page all the same', async () => {
  const { receiver } = createOperated({ parked: letters(1) });
  const operator = toNodeOperator(receiver, ada);
  const origin = await listenUntilTheEnd((incoming, response) => {
    const [path = '', query] = (incoming.url ?? '').split('?');
    if (path !== '/' && path.endsWith('/'))
      response.writeHead(308, { location: path.slice(0, -1) + (query ?? '') }).end();
    else operator(incoming, response);
  });
  const { faults, page } = await openAt(`${origin}/operator/#/health`);
  await page.getByRole('link', { name: 'Dead letters' }).click();
  await page.getByText('1 is waiting').waitFor();
  expect(page.url()).toBe(`${origin}/operator#/dead-letters`);
  expect(faults).toEqual([]);
});

/** A page that tries to show the page in a frame, and to drop letters by a form and by fetch. */
const foreignPage = (operator: string): string => `<!doctype html>
<iframe src="${operator}/"></iframe>
<form method="post" action="${operator}/api/dead-letters/drop" enctype="text/plain" target="answer">
<input name='{"selection":{},"x":"' value='"}'></form>
<iframe name="answer"></iframe>
<script>
const body = JSON.stringify({ selection: {} });
const options = { method: 'POST', credentials: 'include', body };
const types = [['cors', 'application/json'], ['no-cors', 'text/plain']];
const tries = types.map(([mode, type]) =>
  fetch('${operator}/api/dead-letters/drop', { ...options, mode, headers: { 'content-type': type } }));
document.forms[0].submit();
Promise.allSettled(tries).then((ends) => (document.title = ends.map(({ status }) => status).join()));
</script>`;

test('a page of another site can neither show the page nor do a deed in the name of its reader', async () => {
  const { left, receiver } = createOperated({ parked: letters(2) });
  // authorize knows the reader by the network or a certificate, which a foreign page has too.
  const operator = toNodeOperator(receiver, ada);
  const answered: string[] = [];
  const origin = await listenUntilTheEnd((incoming, response) => {
    response.once('finish', () => answered.push(`${incoming.method} ${response.statusCode}`));
    operator(incoming, response);
  });
  const foreign = await listenUntilTheEnd((_incoming, response) =>
    response.setHeader('content-type', 'text/html').end(foreignPage(`${origin}/operator`)),
  );
  const page = await (await sharedBrowser()).newPage();
  onTestFinished(() => page.close());
  await page.goto(foreign.replace('127.0.0.1', 'localhost'));
  await page.waitForFunction("document.title === 'rejected,rejected'");
  await expect.poll(() => answered.toSorted()).toEqual(['GET 200', 'OPTIONS 405', 'POST 403', 'POST 403']);
  expect(page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/');
  expect(left.size).toBe(2);
});
