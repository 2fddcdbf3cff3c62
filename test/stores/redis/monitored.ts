import { createClient, ready } from './clients.ts';
import type { Fixture } from './fixture.ts';

/** A command that a client has sent. */
interface Sent {
  readonly name: string;
  /** The number of keys that a script is given. */
  readonly keyCount: string;
}

/** The commands that clients send meanwhile, by MONITOR; what scripts call is left out. */
export async function commandsDuring(fixture: Fixture, operate: () => Promise<unknown>): Promise<Sent[]> {
  // Ready first: what it asks on connecting must not reach the monitor, which ioredis takes for a reply.
  const client = await ready(fixture.keep(createClient(6, { port: fixture.redis.port })));
  const monitor = await client.monitor();
  const commands: Sent[] = [];
  const ended = new Promise<void>((resolve) => {
    monitor.on('monitor', (_time: string, [name = '', , keyCount = '']: string[], source: string) => {
      if (name.toLowerCase() === 'ping') resolve();
      else if (source !== 'lua') commands.push({ name: name.toLowerCase(), keyCount });
    });
  });
  await operate();
  fixture.redis.command('ping');
  await ended;
  monitor.disconnect();
  return commands;
}
