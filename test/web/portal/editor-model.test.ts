import test from 'ava';
import { newDocuments } from '../../../contracts/portal/new-documents.ts';
import { TEXTS } from '../../../contracts/texts/texts.ts';
import { faultsOf } from '../../../web/client/portal/sender/editor-faults.ts';
import {
  type CreationRequest,
  canHave,
  type EditorModel,
  emptyModel,
  fromRequest as fromRequestIn,
  newItem,
  newPerson,
  toRequest as toRequestIn,
} from '../../../web/client/portal/sender/editor-model.ts';
import { alignTo, freePlace } from '../../../web/client/portal/sender/field-places.ts';
import { pastedMembers, readMembers } from '../../../web/client/portal/sender/pasted-members.ts';

const WORDS = TEXTS.en.senders.editor.script;
const toRequest = (model: EditorModel) => toRequestIn(model, WORDS);
const fromRequest = (request: CreationRequest) => fromRequestIn(request, WORDS);
/** The first fault that the editor names. */
const faultOf = (model: EditorModel, isTemplate = false) =>
  faultsOf(model, '2029-01-01', isTemplate ? 'Lease' : undefined)[0];

const FILE_ID = '7d444840-9dc0-11d1-b245-5ffdce74fad2';

function composed(): EditorModel {
  const place = { uploadId: FILE_ID, topLeftX: 10, topLeftY: 20, width: 100, height: 22, pageNumber: 1 };
  return {
    files: [{ id: FILE_ID, name: 'lease.pdf', contentType: 'application/pdf', displayName: 'Lease' }],
    people: [
      {
        ...newPerson('Signer', 1),
        name: 'Ana',
        email: 'ana@example.org',
        items: [
          { ...newItem('Signature'), label: '', required: true, options: '', ...place },
          { ...newItem('Text'), label: 'City', required: true, options: '', ...place },
          { ...newItem('Choice'), label: 'Plan', required: false, options: 'Basic\nFull', ...place },
          { ...newItem('Attachment'), label: 'Passport', required: true, options: '', ...place },
        ],
      },
      { ...newPerson('Approver', 2), name: 'Bo', email: 'bo@example.org', electronic: false },
      {
        ...newPerson('Group', 3),
        name: 'Board',
        needed: 2,
        members: readMembers('Cy <cy@example.org>\nDee <dee@example.org>'),
      },
      {
        ...newPerson('ApproverGroup', 4),
        name: 'Auditors',
        needed: 1,
        members: readMembers('Fay <fay@example.org>\nGus <gus@example.org>'),
        continues: true,
      },
      { ...newPerson('Observer', 1), name: 'Eve', email: 'eve@example.org', electronic: true },
    ],
    envelope: false,
    envelopeName: '',
    folder: '',
    message: 'Please sign.',
    expires: '2030-01-31',
    reminderDays: 3,
  };
}

test('the editor composes a creation request that the API reads', (t) => {
  const read = newDocuments.parse(toRequest(composed()));
  t.deepEqual(
    read.flowActions.map(({ type, step }) => [type, step]),
    [
      ['Signer', 1],
      ['Approver', 2],
      ['SignRule', 3],
      ['ApproverRule', 4],
    ],
  );
  t.is(read.flowActions[0]?.prePositionedMarks?.[0]?.type, 'SignatureVisualRepresentation');
  t.deepEqual(
    read.flowActions[0]?.fields?.map(({ label, type }) => [label, type]),
    [
      ['City', 'Text'],
      ['Plan', 'Choice'],
      ['Passport', 'Attachment'],
    ],
  );
  t.deepEqual(read.flowActions[0]?.fields?.[1]?.options, ['Basic', 'Full']);
  t.deepEqual(
    read.flowActions[2]?.signRuleUsers?.map(({ email }) => email),
    ['cy@example.org', 'dee@example.org'],
  );
  const auditors = read.flowActions[3];
  t.is(auditors?.numberRequiredSignatures, 1);
  t.true(auditors?.allowRuleFlowToContinueIfRefused);
  t.is(auditors?.allowElectronicSignature, undefined, 'approvers sign nothing');
  t.is(read.observers?.[0]?.user.email, 'eve@example.org');
  t.is(read.reminders?.everyDays, 3);
});

test('a request by the editor is shown again unchanged', (t) => {
  const request = toRequest(composed());
  t.deepEqual(toRequest(fromRequest(request)), request);
  t.deepEqual(fromRequest({}).people, []);
});

test('a last day that is not changed keeps its offset, and a changed one is a day', (t) => {
  const expirationDate = '2027-03-10T22:00:00-03:00';
  const model = fromRequest({ ...toRequest(composed()), expirationDate });
  t.is(model.expires, '2027-03-10');
  t.is(toRequest(model).expirationDate, expirationDate);
  t.is(toRequest({ ...model, expires: '2027-03-12' }).expirationDate, '2027-03-12');
  t.is(toRequest({ ...model, expires: '' }).expirationDate, undefined);
});

test('members of a group are lines of name and address', (t) => {
  t.deepEqual(readMembers(' Ana  <ana@example.org> \n\nbo@example.org\n<cy@example.org>'), [
    { name: 'Ana', email: 'ana@example.org' },
    { name: 'bo@example.org', email: 'bo@example.org' },
    { name: 'cy@example.org', email: 'cy@example.org' },
  ]);
});

test('the editor names the missing parts before it sends a request', (t) => {
  t.is(faultOf(emptyModel())?.code, 'noFile');
  const model = composed();
  t.is(faultOf(model), undefined);
  t.is(faultOf({ ...model, people: model.people.slice(4) })?.code, 'noPerson');
  t.is(faultOf({ ...model, people: [newPerson('Signer', 1)] })?.code, 'noName');
  const group = { ...newPerson('Group', 1), name: 'Board', needed: 2, members: readMembers('a@example.org') };
  t.like(faultOf({ ...model, people: [group] }), { code: 'noMembers', person: group, step: 'people' });
  t.is(faultOf({ ...model, people: [{ ...group, needed: 1 }] }), undefined);
  const twice = { ...group, members: readMembers('a@example.org\nA@example.org') };
  t.is(faultOf({ ...model, people: [twice] })?.code, 'noMembers', 'the service takes each person once');
});

test('the editor offers fields for the participants whose fields the service accepts', (t) => {
  const signer = newPerson('Signer', 1);
  const group = newPerson('Group', 1);
  const several = { ...group, needed: 2 };
  const approvers = newPerson('ApproverGroup', 1);
  const approver = newPerson('Approver', 1);
  for (const person of [signer, group]) t.true(canHave(person, 'Text'), person.role);
  for (const person of [several, approvers, approver]) t.false(canHave(person, 'Attachment'), person.role);
  for (const person of [signer, several, approver]) t.true(canHave(person, 'Signature'), person.role);
  t.false(canHave(newPerson('Observer', 1), 'Signature'));

  const model = composed();
  const [ana] = model.people;
  if (ana === undefined) throw new Error('The model has no people.');
  ana.role = 'Approver';
  t.is(faultOf(model)?.code, 'noFields', 'a person with fields became an approver');
  ana.role = 'Signer';
  for (const item of ana.items) item.options = ' \n';
  t.is(faultOf(model)?.code, 'noOptions');
});

test('members of a request that the editor does not show are kept, and roles in templates need no person', (t) => {
  const place = { uploadId: FILE_ID, topLeftX: 1, topLeftY: 2, width: 30, height: 20 };
  const request = {
    files: [{ id: FILE_ID, name: 'lease.pdf', contentType: 'application/pdf', displayName: 'Lease' }],
    tags: [{ label: 'kind', value: 'flat' }],
    reminders: { everyDays: null, daysBeforeExpiry: [2] },
    observers: [],
    flowActions: [
      {
        type: 'Signer',
        step: 1,
        title: 'Tenant',
        allowElectronicSignature: true,
        signatureInitialsMode: 'Required',
        prePositionedMarks: [{ type: 'AuthenticationStamp', ...place, pageNumber: null, fontSize: 9 }],
        fields: [
          {
            name: 'plan',
            type: 'Choice',
            options: ['A', 'B'],
            label: 'Plan',
            required: true,
            ...place,
            pageNumber: 2,
          },
          { name: 'rent', type: 'Number', label: null, required: false, formField: 'form.rent' },
          { name: 'city', type: 'Text', label: 'City, which a tag in the text places' },
          { name: 'passport', type: 'Attachment', required: true },
        ],
      },
      {
        type: 'ApproverRule',
        step: 2,
        title: null,
        ruleName: 'Board',
        numberRequiredSignatures: 1,
        signRuleUsers: [{ name: 'Cy', email: 'cy@example.org', identifier: '1' }],
        allowElectronicSignature: false,
        prePositionedMarks: [],
      },
    ],
  };
  const model = fromRequest(request);
  t.deepEqual(JSON.parse(JSON.stringify(toRequest(model))), JSON.parse(JSON.stringify(request)));
  t.is(faultOf(model, true), undefined);
  t.is(faultOf(model)?.code, 'noName');
  const [tenant] = model.people;
  tenant?.items.push({
    ...newItem('Text'),
    label: '',
    required: false,
    options: '',
    ...place,
    pageNumber: 1,
  });
  const [action] = toRequest(model).flowActions ?? [];
  t.deepEqual(
    action?.fields?.map(({ name }) => name),
    ['plan', 'person-1-field-1', 'rent', 'city', 'passport'],
  );
});

test('members are read from lines, and from a line that a program for e-mail copies', (t) => {
  const members = [
    { name: 'Silva, Cy', email: 'cy@example.org' },
    { name: 'Dee', email: 'dee@example.org' },
  ];
  t.deepEqual(readMembers('Silva, Cy <cy@example.org>\r\nDee <dee@example.org>\n'), members);
  t.deepEqual(readMembers('Silva, Cy <cy@example.org>, Dee <dee@example.org>;'), members);
  const [bo, eve] = ['bo@example.org', 'eve@example.org'].map((email) => ({ name: email, email }));
  t.deepEqual(readMembers('bo@example.org,\neve@example.org;'), [bo, eve]);
  t.deepEqual(readMembers('bo@example.org; eve@example.org'), [bo, eve]);
  t.deepEqual(readMembers('eve@example.org'), [{ name: 'eve@example.org', email: 'eve@example.org' }]);
});

test('of a long text a group takes the members that it has room for', (t) => {
  const text = Array.from({ length: 150 }, (_, index) => `P${index} <p${index}@example.org>`).join('\n');
  t.is(pastedMembers(text, 99).members.length, 99);
  t.false(pastedMembers(text, 99).isWhole);
  t.true(pastedMembers(text, 150).isWhole);
  t.deepEqual(pastedMembers(text, 0), { members: [], isWhole: false });
  const long = `${'n'.repeat(201)} <a@example.org>\nB <${'b'.repeat(254)}@x>\nC <c@example.org>`;
  t.deepEqual(pastedMembers(long, 9), { members: [{ name: 'C', email: 'c@example.org' }], isWhole: false });
  t.false(pastedMembers(`${' '.repeat(1_000_000)}D <d@example.org>`, 9).isWhole);
});

test('the editor keeps the order 0, also of an action without an order', (t) => {
  const action = { type: 'Signer' as const, user: { name: 'Ana', email: 'ana@example.org' } };
  const model = fromRequest({ flowActions: [{ ...action, step: 0 }, action, { ...action, step: 1 }] });
  t.deepEqual(
    toRequest(model).flowActions?.map(({ step }) => step),
    [0, 0, 1],
  );
});

test('a field without a label gets a readable one, which follows the name of its person', (t) => {
  const model = composed();
  const [ana] = model.people;
  if (ana === undefined) throw new Error('The model has no people.');
  for (const item of ana.items) item.label = '';
  const place = { uploadId: FILE_ID, topLeftX: 10, topLeftY: 60, width: 100, height: 22, pageNumber: 2 };
  ana.items.push({ ...newItem('Text'), ...place });
  const labels = (one: EditorModel) => toRequest(one).flowActions?.[0]?.fields?.map(({ label }) => label);
  t.deepEqual(labels(model), ['Text 1 of Ana', 'Choice 1 of Ana', 'Attachment 1 of Ana', 'Text 2 of Ana']);
  const again = fromRequest(toRequest(model));
  const [first] = again.people;
  if (first === undefined) throw new Error('The model has no people.');
  t.deepEqual(
    first.items.map(({ label }) => label),
    ['', '', '', '', ''],
  );
  first.name = 'Bea';
  t.is(labels(again)?.[0], 'Text 1 of Bea');
  const inSpanish = toRequestIn(model, TEXTS.es.senders.editor.script);
  t.is(inSpanish.flowActions?.[0]?.fields?.[0]?.label, 'Texto 1 de Ana');
});

test('several files become one document with a title, and a folder is kept', (t) => {
  const model = composed();
  const [file] = model.files;
  if (file === undefined) throw new Error('The model has no file.');
  const single = { ...model, envelope: true, envelopeName: 'All', folder: FILE_ID };
  t.is(toRequest(single).isEnvelope, undefined, 'one file is no envelope');
  const both = { ...single, files: [file, { ...file, id: FILE_ID.replace('7', '8') }] };
  const read = newDocuments.parse(toRequest(both));
  t.like(read, { isEnvelope: true, envelopeName: 'All', folderId: FILE_ID });
  t.like(fromRequest(toRequest(both)), { envelope: true, envelopeName: 'All', folder: FILE_ID });
  t.is(faultOf({ ...both, envelopeName: ' ' })?.code, 'noEnvelopeName');
  const text = { ...file, contentType: 'text/plain' };
  t.is(faultOf({ ...both, files: [file, text] })?.code, 'envelopePdf');
});

test('all faults are named at once, each with its step and input', (t) => {
  const model = composed();
  const [ana] = model.people;
  if (ana === undefined) throw new Error('The model has no people.');
  ana.email = 'nowhere';
  for (const item of ana.items) item.options = '';
  t.deepEqual(
    faultsOf({ ...model, expires: '2028-12-31' }, '2029-01-01').map(({ step, code, input }) => [
      step,
      code,
      input,
    ]),
    [
      ['people', 'noMail', 'person-0-email'],
      ['fields', 'noOptions', 'item-options'],
      ['review', 'pastDay', 'expires'],
    ],
  );
});

test('a dragged field jumps to the lines of others and stays inside the page', (t) => {
  const page = { width: 595, height: 842 };
  const other = { topLeftX: 100, topLeftY: 200, width: 160, height: 22 };
  const near = alignTo({ topLeftX: 103, topLeftY: 240, width: 90, height: 22, pageNumber: 1 }, [other], page);
  t.deepEqual([near.x, near.y, near.guides], [100, 240, { x: [100], y: [] }]);
  const far = alignTo({ topLeftX: 120, topLeftY: 240, width: 90, height: 22, pageNumber: 1 }, [other], page);
  t.is(far.x, 120);
  t.deepEqual(freePlace(page, other, []), { topLeftX: 217.5, topLeftY: 410 });
  t.deepEqual(freePlace(page, other, [{ ...other, topLeftX: 217.5, topLeftY: 410 }]), {
    topLeftX: 217.5,
    topLeftY: 440,
  });
});

test('the language of a person and of an observer is read, changed and taken away', (t) => {
  const model = composed();
  const [ana] = model.people;
  const observer = model.people.find(({ role }) => role === 'Observer');
  if (ana === undefined || observer === undefined) return t.fail();
  const users = (request: CreationRequest) => [request.flowActions?.[0]?.user, request.observers?.[0]?.user];
  t.false(users(toRequest(model)).some((user) => user !== undefined && user !== null && 'language' in user));
  ana.language = 'de';
  observer.language = 'fr';
  const made = toRequest(model);
  t.deepEqual(
    users(made).map((user) => user?.language),
    ['de', 'fr'],
  );
  const read = fromRequest(made);
  t.deepEqual(
    read.people.filter(({ language }) => language !== '').map(({ name, language }) => [name, language]),
    [
      ['Ana', 'de'],
      ['Eve', 'fr'],
    ],
  );
  for (const person of read.people) person.language = '';
  t.deepEqual(
    users(toRequest(read)).map((user) => user?.language),
    [null, undefined],
  );
});
