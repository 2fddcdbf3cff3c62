import { inspect } from 'node:util';
import { ConfigurationError } from 'posthorn';
import { createSandbox, defaultCredentials, type SandboxOptions } from 'posthorn/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSandbox } from './opened-sandbox.ts';

test('the default credentials are those of the documentation', () => {
  expect(defaultCredentials).toEqual({
    administrator: { username: 'sandbox-admin', password: 'sandbox-password' },
    user: { username: 'sandbox-user', password: 'sandbox-password' },
    banking: { token: 'sandbox-jwt', apiKey: 'sandbox-key' },
    profile: { accessToken: 'sandbox-access' },
  });
});

describe('a wrong option is named:', () => {
  test.each<[string, unknown, string]>([
    ['an unknown one', { port: 4010 }, '"port"'],
    ['no object', 'manual', 'object'],
    ['clock', { clock: 'stopped' }, 'clock must be "real" or "manual"'],
    ['speed', { speed: 0 }, 'speed must be above 0'],
    ['speed', { speed: Number.POSITIVE_INFINITY }, 'speed'],
    ['speed of a manual clock', { clock: 'manual', speed: 60 }, 'speed'],
    ['startAt', { startAt: 1.5 }, 'startAt'],
    ['startAt', { startAt: 9e15 }, 'startAt'],
    ['startAt', { startAt: 8.64e15 }, 'startAt must be a moment before the last day of the year 9999'],
    ['state', { state: '' }, 'state'],
    ['signatureHeader', { signatureHeader: 'two words' }, 'signatureHeader'],
    ['administrator', { administrator: { username: 'a' } }, 'administrator.password'],
    ['administrator', { administrator: { username: 'a:b', password: 'p' } }, 'administrator.username'],
    [
      'administrator',
      { administrator: { username: 'sandbox-user', password: 'p' } },
      'administrator.username',
    ],
    ['banking', { banking: { token: '', apiKey: 'k' } }, 'banking.token'],
    ['banking', { banking: { token: 't', apiKey: 'k', key: 'x' } }, '"key"'],
    ['profile', { profile: { accessToken: 'two words' } }, 'profile.accessToken'],
    ['profile', { profile: null }, 'profile'],
  ])('%s %j', (_, options, named) => {
    const create = () => createSandbox(options as SandboxOptions);
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(named);
  });

  test('secrets stay out of the error', () => {
    let error: unknown;
    try {
      createSandbox({ banking: { token: 'very secret', apiKey: 'k' } });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(inspect(error, { depth: 10 })).not.toContain('very secret');
  });
});

describe('listen', () => {
  test('serves once, on a port of its own or a given one', async () => {
    const { sandbox, url } = await openSandbox();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    await expect(sandbox.listen()).rejects.toThrow(ConfigurationError);
    const other = createSandbox();
    onTestFinished(() => other.close());
    const port = Number(new URL(url).port);
    await expect(other.listen(port)).rejects.toThrow(`127.0.0.1:${port}`);
    expect(await other.listen(0, 'localhost')).toEqual({
      url: expect.stringMatching(/^http:\/\/localhost:\d+$/),
      port: expect.any(Number),
    });
  });

  test('close ends it, whatever connections are kept open, and may be called twice', async () => {
    const { call, sandbox } = await openSandbox();
    await call('GET', '/sandbox/clock');
    await sandbox.close();
    await sandbox.close();
    await expect(call('GET', '/sandbox/clock')).rejects.toThrow();
  });
});
