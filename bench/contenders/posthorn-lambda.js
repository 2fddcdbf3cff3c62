import { toLambda } from '../../dist/adapters/lambda.js';
import { createGateway } from './lambda-gateway.js';
import { countHandled, createBenchReceiver } from './posthorn-receiver.js';
import { serve } from './serve.js';

serve(createGateway(toLambda(createBenchReceiver())), countHandled);
