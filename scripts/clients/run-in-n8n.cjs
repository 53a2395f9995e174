/** The part of check-n8n.mjs that runs in the folder with the packages of n8n: a workflow of one node, each time with other parameters. */
require('reflect-metadata');
const { readFileSync } = require('node:fs');
const { resolve } = require('node:path');
const { ExecutionLifecycleHooks, PackageDirectoryLoader, WorkflowExecute } = require('n8n-core');
const { createRunExecutionData, Workflow } = require('n8n-workflow');

const accounts = JSON.parse(readFileSync('accounts.json', 'utf8'));
const credentialsHelper = {
  getDecrypted: async (_data, _account, type) => accounts[type],
  getParentTypes: () => [],
  isCredentialUsableByNode: () => true,
};
const url = 'http://127.0.0.1/';
const loader = new PackageDirectoryLoader(resolve('node_modules/n8n-nodes-sealwright'));
let last = 0;

async function run(parameters, item = { json: {} }) {
  const { type } = loader.getNode('sealwright');
  const nodeTypes = { getByName: () => type, getByNameAndVersion: () => type, getKnownTypes: () => ({}) };
  const chosen = Object.fromEntries(Object.keys(accounts).map((name) => [name, { id: name, name }]));
  const node = {
    ...{ id: 'one', name: 'One', type: 'n8n-nodes-sealwright.sealwright', typeVersion: 1, position: [0, 0] },
    ...{ parameters, credentials: chosen },
  };
  const workflow = new Workflow({ id: 'w', nodes: [node], connections: {}, active: false, nodeTypes });
  last += 1;
  const additional = {
    ...{ executionId: String(last), credentialsHelper, variables: {}, currentNodeExecutionIndex: 0 },
    hooks: new ExecutionLifecycleHooks('internal', String(last), {}),
    ...{ webhookWaitingBaseUrl: url, formWaitingBaseUrl: url, restApiUrl: url, instanceBaseUrl: url },
  };
  const stack = [{ node: workflow.getNode('One'), data: { main: [[item]] }, source: null }];
  const data = createRunExecutionData({ executionData: { nodeExecutionStack: stack } });
  const ended = await new WorkflowExecute(additional, 'internal', data).processRunExecutionData(workflow);
  const { error, runData } = ended.data.resultData;
  if (error) throw Object.assign(new Error(error.message), { description: error.description });
  return runData.One[0].data.main[0];
}

async function main() {
  await loader.loadAll();
  const content = readFileSync('a.pdf').toString('base64');
  const data = { data: content, mimeType: 'application/pdf', fileName: 'a.pdf' };
  const file = { json: {}, binary: { data } };
  const [job] = await run({ resource: 'file', operation: 'sign', binaryPropertyName: 'data' }, file);
  const download = { resource: 'file', operation: 'download', jobId: '={{ $json.id }}', outputPropertyName: 'data' };
  const [signed] = await run(download, job);
  const [{ json }] = await run({ resource: 'file', operation: 'validate', binaryPropertyName: 'data' }, signed);
  if (json.indication !== 'TOTAL-PASSED') throw new Error(JSON.stringify(json));
  console.log('n8n has signed, downloaded and validated a file');
  const participants = { participant: [{ name: 'Ana', email: 'ana@example.com', step: 1 }] };
  const send = { resource: 'document', operation: 'send', binaryPropertyName: 'data', name: 'Lease', participants };
  const [sent] = await run(send, file);
  const documentId = '={{ $json.documentId }}';
  const [{ json: shown }] = await run({ resource: 'document', operation: 'get', documentId }, sent);
  const flowActionId = shown.flowActions[0].id;
  await run({ resource: 'document', operation: 'remind', documentId, flowActionId }, sent);
  await run({ resource: 'document', operation: 'cancel', documentId, reason: 'wrong' }, sent);
  const [listed] = await run({ resource: 'document', operation: 'getAll', limit: 5, status: 'Canceled' });
  if (listed.json.id !== shown.id) throw new Error(JSON.stringify(listed));
  console.log('n8n has sent, shown, reminded, canceled and listed a document');
  const refused = await run({ resource: 'document', operation: 'download', documentId, outputPropertyName: 'data' }, sent).catch(
    (error) => error,
  );
  if (!/DocumentHasNoSignatures/.test(refused.description)) throw refused;
  console.log('n8n shows a refusal with its code');
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
