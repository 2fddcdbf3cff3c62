import { type BeforeApplicationShutdown, Inject, Injectable, Module } from '@nestjs/common';
import { createReceiver, type EventData, type Receiver } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';

/** The token under which the receiver is injected. */
export const RECEIVER = Symbol('receiver');

@Injectable()
class TransferService {
  book(id: string, { amount }: EventData): void {
    console.log(id, amount);
  }
}

function createWebhooks(transfers: TransferService): Receiver {
  const receiver = createReceiver({
    signingKey: process.env.SIGNING_KEY,
    deadLetters: createFileDeadLetters('dead-letters'),
  });
  return receiver.on('transfer.succeeded', ({ id, data }) => transfers.book(id, data));
}

/** The receiver, and the services that its handlers use. */
@Module({
  providers: [TransferService, { provide: RECEIVER, useFactory: createWebhooks, inject: [TransferService] }],
})
export class WebhooksModule implements BeforeApplicationShutdown {
  readonly #receiver: Receiver;

  constructor(@Inject(RECEIVER) receiver: Receiver) {
    this.#receiver = receiver;
  }

  /** Finishes the running deliveries before Nest closes its server. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.#receiver.close();
  }
}
