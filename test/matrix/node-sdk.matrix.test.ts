import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { packageRoot, startProgram } from '../support/child-program.ts';
import { freePort } from '../support/free-port.ts';
import { installPackage } from '../support/installed-package.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { compileSnippet, snippetWith } from '../support/snippet.ts';

const PAGE = 'docs/tracing.md';
const KEY = 'whsec_of_tracing';

/** Plays a collector of OTLP; returns its address, and what it received at each path. */
async function startCollector(): Promise<{ url: string; received: (path: string) => string }> {
  const bodies: { path: string | undefined; body: string }[] = [];
  const receive = async (request: IncomingMessage): Promise<void> => {
    bodies.push({ path: request.url, body: await text(request) });
  };
  const url = await listenUntilTheEnd((request, response) => {
    void receive(request).then(() => response.setHeader('content-type', 'application/json').end('{}'));
  });
  const at = (path: string): string =>
    bodies
      .filter((each) => each.path === path)
      .map(({ body }) => body)
      .join('\n');
  return { url, received: at };
}

test('NodeSDK sends the spans and the metrics of a receiver, installed and set up as the page says', async () => {
  const [install = ''] =
    /^npm install @opentelemetry.*$/m.exec(readFileSync(join(packageRoot, PAGE), 'utf8')) ?? [];
  const installed = installPackage(`${install} posthorn --ignore-scripts`);
  onTestFinished(installed.remove);

  const port = await freePort();
  const snippet = snippetWith('NodeSDK', PAGE).replace('3000', String(port));
  const file = compileSnippet(installed.project, 'server.mts', snippet);
  const collector = await startCollector();
  const environment = {
    PATH: process.env.PATH,
    SIGNING_KEY: KEY,
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  const server = startProgram(file, environment, installed.project);
  onTestFinished(() => server.kill('SIGKILL'));

  const event = createEvent('transfer.succeeded', { amount: 1250 });
  const url = `http://127.0.0.1:${port}/webhooks`;
  const answer = await vi.waitUntil(
    async () => deliver(url, event, { key: KEY }).catch(() => undefined),
    20_000,
  );
  expect(answer.status).toBe(200);
  server.kill('SIGTERM');
  expect(await server.exit, server.lines.join('\n')).toBe(0);
  expect(collector.received('/v1/traces')).toContain('"process transfer.succeeded"');
  expect(collector.received('/v1/traces')).toContain('"handle book"');
  expect(collector.received('/v1/metrics')).toContain('"posthorn.deliveries"');
});
