import { createEvent, deliver } from 'posthorn/testing';
import { expect, onTestFinished, test } from 'vitest';
import { redisQueueServer } from '../queues/bullmq/redis-queue-server.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { type ChildProgram, packageRoot, startProgram } from '../support/child-program.ts';
import { key } from './application.ts';
import { useCompiledProgram } from './compiled-program.ts';

const fixture = useRedis();
const program = useCompiledProgram('jobs');

test('a worker without a server runs the jobs of the web application, and ends the one in hand on SIGTERM', async () => {
  const scope = 'of-nestjs';
  const start = (role: 'web' | 'worker'): ChildProgram => {
    const { port } = fixture.redis;
    const environment = { PATH: process.env.PATH, REDIS_PORT: `${port}`, SCOPE: scope, KEY: key, ROLE: role };
    const started = startProgram(program(), environment, packageRoot);
    onTestFinished(async () => {
      started.kill('SIGKILL');
      await started.exit;
    });
    return started;
  };
  const [web, worker] = [start('web'), start('worker')];
  const [, address] = (await web.line(/^listening /)).split(' ');
  await worker.line(/^working/);
  const event = createEvent('transfer.succeeded');
  const answer = await deliver(`${address}/webhooks`, event, { key });
  expect(await answer.json()).toMatchObject({ outcome: 'queued', id: event.id });
  await worker.line(/^begun /);
  worker.kill('SIGTERM');
  await worker.line(/^the worker closes/);
  await (await fixture.connect()).rpush('gate', 'open');
  // NestJS sends itself the signal again, once its hooks have run.
  expect(await worker.exit).toBeNull();
  expect(worker.lines.filter((line) => !line.startsWith('posthorn: '))).toEqual([
    'working',
    `begun ${event.id}`,
    'the worker closes',
    `handled ${event.id}`,
    'the worker has closed',
    "the handler's connection closes",
    "the store's connection closes",
  ]);
  const bull = redisQueueServer(fixture).openBull(scope);
  onTestFinished(() => bull.disconnect());
  expect(await bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
  web.kill('SIGTERM');
  expect(await web.exit).toBeNull();
});
