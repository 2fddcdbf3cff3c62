// A function of AWS Lambda that receives webhooks and keeps ids and dead letters in DynamoDB. template.yaml
// creates both, and says how to deploy them.

import { toLambda } from 'posthorn/lambda';
import { receiver } from './receiver.js';

export const handler = toLambda(receiver);
