import { inspect, types } from 'node:util';
import { tests } from './running-test.ts';

// Vitest tells of a rejection that nobody handles, and of an exception that nobody catches, but after the end
// of their test it names the test that runs by then, or none. Here they name the test that left them.

const DONE = Symbol.for('posthorn.tests.name-late-failures');

function nameFailures(): void {
  const apply: ProxyHandler<typeof process.emit>['apply'] = (emit, self, [event, reason, ...others]) => {
    const isFailure = event === 'unhandledRejection' || event === 'uncaughtException';
    // Where a test listens to them itself Vitest passes over them.
    const test = isFailure && process.listenerCount(event) === 1 ? tests.getStore()?.name : undefined;
    return Reflect.apply(emit, self, [event, test === undefined ? reason : named(reason, test), ...others]);
  };
  // A listener of its own would keep Vitest from telling of them.
  process.emit = new Proxy(process.emit, { apply });
}

/** An error is shown as the cause; its stack says where it comes from. */
function named(reason: unknown, test: string): Error {
  const what = types.isNativeError(reason) ? '' : `: ${inspect(reason, { customInspect: false })}`;
  const failure = new Error(`nobody handled a failure that the test ${test} left behind${what}`);
  return Object.assign(failure, { cause: reason, stack: '' });
}

// Before each file, in a worker that may have had others.
if (!Reflect.has(globalThis, DONE)) {
  Reflect.set(globalThis, DONE, true);
  nameFailures();
}
