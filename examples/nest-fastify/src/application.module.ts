import { Body, Controller, Module, Post } from '@nestjs/common';
import { WebhooksModule } from './webhooks.module.js';

/** Its bodies are parsed by NestJS. */
@Controller()
class EchoController {
  @Post('echo')
  echo(@Body() body: unknown): unknown {
    return body;
  }
}

@Module({ imports: [WebhooksModule], controllers: [EchoController] })
export class ApplicationModule {}
