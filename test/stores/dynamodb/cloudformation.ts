import { parse, type ScalarTag } from 'yaml';

/** The short forms of the functions of CloudFormation, as their long ones. */
const functions: ScalarTag[] = [
  { tag: '!Ref', resolve: (name) => ({ Ref: name }) },
  { tag: '!GetAtt', resolve: (path) => ({ 'Fn::GetAtt': path }) },
  { tag: '!Sub', resolve: (text) => ({ 'Fn::Sub': text }) },
];

/** A template of CloudFormation, or a part of one. Its form is for the test to check. */
export function readTemplate(text: string) {
  return parse(text, { customTags: functions });
}

/** What CreateTable and UpdateTimeToLive take, out of a table in CloudFormation, where it is one. */
export function tableOf(resource: Readonly<Record<string, unknown>>, name: string) {
  const { Type, Properties } = resource;
  if (Type !== 'AWS::DynamoDB::Table') throw new Error(`a table is wanted, not ${String(Type)}`);
  const { TimeToLiveSpecification, ...table } = Object(Properties);
  return {
    table: { TableName: name, ...table },
    timeToLive: { TableName: name, TimeToLiveSpecification },
  };
}
