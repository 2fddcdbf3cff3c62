import type { Pattern } from '../providers/banking-service/catalog.ts';
import type { EventOf, KnownEvent, UnknownEvent } from '../providers/banking-service/event.ts';
import type { Schemas } from '../providers/banking-service/event-data.ts';
import { checkFunction, type NotAGenerator } from '../receiver/checks/called-functions.ts';
import { checkOptions } from '../receiver/checks/check-options.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import type { PatternOf, TypedEvent } from '../receiver/events/event-types.ts';
import type { SchemasByEntity } from '../receiver/events/schema.ts';
import type { HandlerContext, HandlerOptions } from '../receiver/handling/handlers/route.ts';
import type { Receiver } from '../receiver-interface.ts';
import { addMethod, type DecoratedMethod } from './decorated-methods.ts';
import { checkName } from './tokens.ts';

/** Options of {@link OnUnhandledWebhook}. */
export interface OnUnhandledWebhookOptions {
  /** The name of the receiver, if it has one. */
  readonly receiver?: string | undefined;
}

/** Options of {@link OnWebhook}: those of `receiver.on`, and the receiver. */
export interface OnWebhookOptions<Event> extends HandlerOptions<Event>, OnUnhandledWebhookOptions {}

/** A decorator of methods that can take these parameters. */
export type WebhookDecorator<Parameters extends readonly unknown[]> = <
  Method extends (...parameters: Parameters) => unknown,
>(
  prototype: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method> & NotAGenerator<ReturnType<Method>>,
) => void;

/**
 * Registers a method of a provider or controller as a handler, as `receiver.on` does with a function. The
 * method runs without guards, pipes, interceptors and filters. A method whose parameter does not fit the
 * pattern does not compile.
 *
 * The handler has no name unless you give it one. Names are stored, so they must not change when a method is
 * renamed. With `schemas`, pass the types: `@OnWebhook<'transfer.*', typeof schemas>('transfer.*')`.
 *
 * @throws ConfigurationError for an unknown option, and on anything but a method. The application does not
 * start with a wrong pattern or option.
 *
 * @example
 * ```ts
 * import type { WebhookEvent } from 'posthorn';
 * import { OnWebhook } from 'posthorn/nestjs';
 *
 * @OnWebhook('transfer.succeeded', { name: 'book' })
 * async book({ id, data }: WebhookEvent): Promise<void> {}
 * ```
 */
export function OnWebhook<const P extends Pattern, S extends Schemas = Record<never, never>>(
  pattern: P | readonly P[],
  options: OnWebhookOptions<EventOf<P, S>> = {},
): WebhookDecorator<[event: EventOf<P, S>, context: HandlerContext]> {
  checkOptions(options, ['name', 'queue', 'concurrencyKey', 'receiver'], '@OnWebhook');
  const { receiver: name, ...handlerOptions } = options;
  return decorate('OnWebhook', {
    receiver: name,
    events: [pattern].flat().join(', '),
    register: (receiver: Receiver<S>, call) => receiver.on(pattern, call, handlerOptions),
  });
}

/**
 * Registers a method of a provider or controller as the handler of the events that no pattern matches, as
 * `receiver.onUnhandled` does with a function.
 *
 * @throws ConfigurationError for an unknown option, and on anything but a method.
 *
 * @example
 * ```ts
 * import type { WebhookEvent } from 'posthorn';
 * import { OnUnhandledWebhook } from 'posthorn/nestjs';
 *
 * @OnUnhandledWebhook()
 * log({ id, type }: WebhookEvent): void {}
 * ```
 */
export function OnUnhandledWebhook(
  options: OnUnhandledWebhookOptions = {},
): WebhookDecorator<[event: KnownEvent | UnknownEvent, details: { readonly known: boolean }]> {
  checkOptions(options, ['receiver'], '@OnUnhandledWebhook');
  return decorate('OnUnhandledWebhook', {
    receiver: options.receiver,
    events: 'other events',
    register: (receiver, call) => receiver.onUnhandled(call),
  });
}

/** The decorators for the events of a provider: {@link webhookDecorators}. */
export interface WebhookDecorators<E extends TypedEvent> {
  /** As {@link OnWebhook}, with the patterns and events of the provider. */
  OnWebhook<const P extends PatternOf<E>, S extends SchemasByEntity = Record<never, never>>(
    pattern: P | readonly P[],
    options?: OnWebhookOptions<EventOf<P, S, E>>,
  ): WebhookDecorator<[event: EventOf<P, S, E>, context: HandlerContext]>;
  /** As {@link OnUnhandledWebhook}, with the events of the provider. */
  OnUnhandledWebhook(
    options?: OnUnhandledWebhookOptions,
  ): WebhookDecorator<[event: EventOf<'*', Record<never, never>, E>, details: { readonly known: boolean }]>;
}

/**
 * Returns the decorators with the types of a provider other than the default one: `E` is the union of its
 * events. Without `E` a pattern is any text of the right form.
 *
 * @example
 * ```ts
 * import { webhookDecorators } from 'posthorn/nestjs';
 * import type Stripe from 'stripe';
 *
 * const on = webhookDecorators<Stripe.Event>();
 *
 * @on.OnWebhook('invoice.paid', { name: 'book' })
 * async book({ data }: Stripe.InvoicePaidEvent): Promise<void> {}
 * ```
 */
export function webhookDecorators<E extends TypedEvent>(): WebhookDecorators<E>;
// A decorator notes its pattern, whatever the provider is: the signature above has the types.
export function webhookDecorators(): Readonly<Record<keyof WebhookDecorators<TypedEvent>, unknown>> {
  return { OnWebhook, OnUnhandledWebhook };
}

/** Creates a decorator that notes the method it is on. */
function decorate<Parameters extends readonly unknown[]>(
  decorator: string,
  method: Omit<DecoratedMethod, 'declaredBy' | 'place' | 'label' | 'key'>,
): WebhookDecorator<Parameters> {
  checkName('receiver', method.receiver);
  return (prototype, key, descriptor) => {
    // Decorators of the later standard, which NestJS does not use, get other arguments.
    if (typeof prototype !== 'object' || typeof descriptor?.value !== 'function') {
      throw new ConfigurationError(
        `@${decorator} of ${String(key)} is not on a method of an object: write it on a method that is not ` +
          'static, and compile with "experimentalDecorators"',
      );
    }
    const place = `${prototype.constructor.name}.${String(key)}`;
    checkFunction(descriptor.value, `@${decorator} of ${place}`);
    addMethod({ ...method, declaredBy: prototype, place, label: `@${decorator} of ${place}`, key });
  };
}
