import { afterAll, describe, expect, test } from 'vitest';
import { Servers } from '../stores/redis/servers.ts';
import { freePort } from '../support/free-port.ts';
import { expectDeadLetters, expectDeliveries, openExample } from './example-project.ts';

const servers = new Servers();
afterAll(() => servers.stop());

describe('examples/cloud-functions', () => {
  test("receives behind Google's framework, which has parsed every body", async () => {
    const { port } = await servers.single();
    const environment = { PORT: String(await freePort()), REDIS_URL: `redis://127.0.0.1:${port}` };
    const example = openExample('cloud-functions');
    const running = await example.start({ environment, listening: /^URL: (http:\S+)$/ });
    await expectDeliveries(running);
    expect(running.program.lines).toContainEqual(expect.stringMatching(/^transfer\.succeeded evt_/));
    await expectDeadLetters(running);
  });
});
