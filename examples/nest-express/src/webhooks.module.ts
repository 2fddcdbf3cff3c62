import { Injectable, Module } from '@nestjs/common';
import type { WebhookEvent } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { OnWebhook, PosthornModule } from 'posthorn/nestjs';

@Injectable()
class TransferService {
  @OnWebhook('transfer.succeeded')
  book({ id, data }: WebhookEvent): void {
    console.log(id, data.amount);
  }
}

/** The receiver, and the services with its handlers. */
@Module({
  imports: [
    PosthornModule.forRoot({
      path: '/webhooks',
      signingKey: process.env.SIGNING_KEY,
      deadLetters: createFileDeadLetters('dead-letters'),
    }),
  ],
  providers: [TransferService],
})
export class WebhooksModule {}
