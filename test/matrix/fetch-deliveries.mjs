/**
 * What a receiver on the web server of the runtime does with deliveries, by the name of each. Node.js has no
 * such server, so there it gets the requests at once.
 */
const key = 'matrix-key';

/** Sends deliveries to a receiver that is built from the given modules; returns what became of each. */
export async function receiveFetchDeliveries({ core, fetch: { toFetch }, testing }) {
  const receiver = core
    .createReceiver({ signingKey: key, maxBodyBytes: 1_000, bodyTimeoutMs: 300 })
    .observe(() => {})
    .on('transfer.*', () => new Promise((resolve) => setTimeout(resolve, 20)));
  const server = await serve(toFetch(receiver));
  const results = await sendRequests(server.send, testing);
  await server.close();
  return results;
}

async function serve(handle) {
  if (globalThis.Bun !== undefined) {
    const server = globalThis.Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: handle });
    return { send: (init) => fetch(server.url, init), close: () => server.stop(true) };
  }
  if (globalThis.Deno !== undefined) {
    const server = globalThis.Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: () => {} }, handle);
    const url = `http://127.0.0.1:${server.addr.port}`;
    return { send: (init) => fetch(url, init), close: () => server.shutdown() };
  }
  return { send: (init) => handle(new Request('http://127.0.0.1', init)), close: () => {} };
}

async function sendRequests(send, { createEvent, signedHeaders }) {
  const post = async (text, options = {}) => {
    const { signedBy = key, body = text } = options;
    const headers = signedHeaders(text, { key: signedBy });
    return outcomeOf(await send({ method: 'POST', headers, body, duplex: 'half' }));
  };
  const event = JSON.stringify(createEvent('transfer.created'));
  const concurrent = JSON.stringify(createEvent('transfer.updated'));
  const large = 'x'.repeat(2_000);
  return {
    processed: await post(event),
    duplicate: await post(event),
    concurrent: (await Promise.all([post(concurrent), post(concurrent)])).sort(),
    forged: await post(event, { signedBy: 'another' }),
    chunked: await post(event, { body: streamOf(event, 1) }),
    tooLarge: await post(large),
    chunkedTooLarge: await post(large, { body: streamOf(large, 100) }),
    empty: await post('', { body: null }),
    wrongMethod: await outcomeOf(await send({ method: 'GET' })),
    slowBody: await post(event, { body: streamOf(event, 100, { ends: false }) }),
  };
}

/** A text in chunks of `size` bytes, which ends or stops after them. */
function streamOf(text, size, { ends = true } = {}) {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let start = 0; start < bytes.length; start += size) {
        controller.enqueue(bytes.subarray(start, start + size));
      }
      if (ends) controller.close();
    },
  });
}

async function outcomeOf(response) {
  const { outcome, code } = await response.json();
  return `${response.status} ${outcome ?? code}`;
}
