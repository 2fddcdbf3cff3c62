import type { DiscoveryService } from '@nestjs/core';
import { pathBelow } from '../operator/path-below.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import { messageOf, show } from '../receiver/values/foreign-values.ts';
import type { Receiver } from '../receiver-interface.ts';
import { forgottenMethods } from './declared-methods.ts';
import { findMethods, type ProvidedMethod } from './find-methods.ts';

/** The name and the paths of a receiver, which differ for each receiver of an application. */
export interface Endpoint {
  /** Undefined for the receiver without a name. */
  readonly name: string | undefined;
  readonly path: string;
  /** The path of the interface of operators; undefined if the receiver has none. */
  readonly operatorPath: string | undefined;
}

/**
 * Registers the decorated methods that are for a receiver, and returns them.
 *
 * @throws ConfigurationError for a method that would not run: its receiver does not exist, nothing provides
 * its class, or its pattern or option is wrong.
 */
export function registerMethods(
  receiver: Receiver,
  endpoint: Endpoint,
  all: readonly Endpoint[],
  discovery: DiscoveryService,
): readonly ProvidedMethod[] {
  const methods = findMethods(discovery);
  for (const method of methods) checkReceiver(method, all);
  checkProvided(endpoint, discovery);
  const own = methods.filter((method) => method.receiver === endpoint.name);
  for (const method of own) register(receiver, method);
  return own;
}

/** Throws {@link ConfigurationError} if two receivers have one name or one path, or one hides another. */
export function checkDistinct(all: readonly Endpoint[]): void {
  for (const [index, { name, path }] of all.entries()) {
    const later = all.slice(index + 1);
    if (later.some((other) => other.name === name)) {
      throw new ConfigurationError(
        `the application has two receivers ${nameOf(name)}: give each a name of its own, by the option "name"`,
      );
    }
    const same = later.find((other) => other.path === path);
    if (same !== undefined) {
      throw new ConfigurationError(
        `the receivers ${nameOf(name)} and ${nameOf(same.name)} have the path ${show(path)}, ` +
          'so the second would never get a delivery: give each a path of its own',
      );
    }
    checkOperatorPath(all, index);
  }
}

/** The interface of operators answers each request below its path. */
function checkOperatorPath(all: readonly Endpoint[], index: number): void {
  const mount = all[index]?.operatorPath;
  if (mount === undefined) return;
  const others = all.flatMap(({ path, operatorPath = path }, other) =>
    other === index ? [path] : [path, operatorPath],
  );
  const hidden = others.find((path) => pathBelow(mount, [path]) !== undefined);
  if (hidden === undefined) return;
  throw new ConfigurationError(
    `the path ${show(mount)} of the option operator hides ${show(hidden)}, which would never get a request: ` +
      'give each webhook and each operator a path of its own, none below that of an operator',
  );
}

function checkReceiver({ label, receiver }: ProvidedMethod, all: readonly Endpoint[]): void {
  if (all.some(({ name }) => name === receiver)) return;
  throw new ConfigurationError(
    `${label} is for the receiver ${nameOf(receiver)}, which the application does not have; it has ` +
      `${all.map(({ name }) => nameOf(name)).join(', ')}: set "receiver" in the options of the decorator, or ` +
      'import PosthornModule.forRoot with that name',
  );
}

function checkProvided({ name }: Endpoint, discovery: DiscoveryService): void {
  const forgotten = forgottenMethods(discovery).filter(({ receiver }) => receiver === name);
  const labels = forgotten.map(({ label }) => label);
  if (labels.length === 0) return;
  throw new ConfigurationError(
    `NestJS has no provider for the class of ${labels.join(', ')}, which would never run: add the class to ` +
      'the `providers` of a module that the application imports. If this application goes without it, ' +
      'do not import its file, or provide null for it: { provide: TheClass, useValue: null }',
  );
}

function register(receiver: Receiver, method: ProvidedMethod): void {
  try {
    method.register(receiver, method.call);
  } catch (cause) {
    throw new ConfigurationError(`${method.label}: ${messageOf(cause)}`, { cause });
  }
}

function nameOf(name: string | undefined): string {
  return name === undefined ? 'without a name' : show(name);
}
