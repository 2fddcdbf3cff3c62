import compress from '@fastify/compress';
import formbody from '@fastify/formbody';
import helmet from '@fastify/helmet';
import fastify from 'fastify';
import rawBody from 'fastify-raw-body';
import { createReceiver } from 'posthorn';
import { toFastify } from 'posthorn/fastify';
import { createEvent, deliver } from 'posthorn/testing';

const key = 'key-of-fastify';
const plugins = {
  '@fastify/compress': [compress, { threshold: 0, globalDecompression: true }],
  '@fastify/helmet': [helmet],
  '@fastify/formbody': [formbody],
  'fastify-raw-body': [rawBody, { global: true, encoding: false }],
  'fastify-raw-body, first': [rawBody, { global: true, runFirst: true }],
};

for (const [name, [plugin, options]] of Object.entries(plugins)) {
  const receiver = createReceiver({ signingKey: key }).on('*', () => {});
  const app = fastify();
  await app.register(plugin, options);
  app.register(
    toFastify(
      receiver.observe(() => {}),
      { path: '/webhooks' },
    ),
  );
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/webhooks`;
  const event = createEvent('transfer.succeeded', { tags: { note: 'x'.repeat(200_000) } });
  const answers = [await deliver(url, event, { key }), await deliver(url, event, { key: 'another' })];
  const bodies = await Promise.all(answers.map((answer) => answer.json()));
  const frameOptions = answers[0].headers.get('x-frame-options') ?? 'no x-frame-options';
  console.log(`${name}: ${bodies.map(({ outcome, code }) => outcome ?? code).join(', ')}, ${frameOptions}`);
  await app.close();
}
