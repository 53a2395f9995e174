/** People of a document: those who act in their order, groups, and observers. */
import { Button, Field } from '../../../components/controls.tsx';
import { filled, LANGUAGE_NAMES, type SenderTexts } from '../../../pages/portal/texts.ts';
import {
  acts,
  type EditorPerson,
  type GroupMember,
  isGroup,
  newMember,
  type PersonRole,
  signs,
} from './editor-model.ts';
import { type EditorPage, focusOn } from './editor-page.ts';
import { MAX_PEOPLE, pastedMembers } from './pasted-members.ts';

/** Roles that the row of a person, and of a group, offers. */
const ROLES = { person: ['Signer', 'Approver'], group: ['Group', 'ApproverGroup'] } as const;

interface RowProps {
  readonly page: EditorPage;
  readonly person: EditorPerson;
  readonly index: number;
  readonly templates: SenderTexts['templates'];
}

export function PeopleStep({ page, templates }: Pick<RowProps, 'page' | 'templates'>) {
  const { texts } = page;
  return (
    <>
      <p class="hint">{texts.peopleHint}</p>
      <ol id="people-list" class="rows">
        {page.people.map((person, index) => (
          <li key={index}>
            <PersonRow page={page} person={person} index={index} templates={templates} />
          </li>
        ))}
      </ol>
      {page.errorOf('add-person') && <p class="error">{page.errorOf('add-person')}</p>}
      <p class="ways">
        <Button id="add-person" icon="plus" onClick={() => page.addPerson('Signer')}>
          {texts.addPerson}
        </Button>
        <Button icon="plus" onClick={() => page.addPerson('Group')}>
          {texts.addGroup}
        </Button>
        <Button icon="plus" onClick={() => page.addPerson('Observer')}>
          {texts.addObserver}
        </Button>
      </p>
    </>
  );
}

/** Inputs of a person: the text goes to the model, and a corrected input is no longer marked. */
function inputOf({ page, person, index }: RowProps, name: 'name' | 'email' | 'title') {
  const id = `person-${index}-${name}`;
  return {
    id,
    name,
    value: person[name],
    error: page.errorOf(id),
    maxlength: name === 'email' ? 254 : 200,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
      page.corrected(id);
      page.change(() => {
        person[name] = currentTarget.value;
      }, id);
    },
    onBlur: () => page.endRow(),
  };
}

function PersonRow(props: RowProps) {
  const { page, person, index, templates } = props;
  const { texts, words } = page;
  const isOfGroup = isGroup(person);
  const number = filled(words.person, { number: index + 1 });
  const kind = isOfGroup ? texts.group : acts(person) ? '' : texts.observer;
  const names = { Signer: texts.signer, Approver: texts.approver, Group: texts.groupSigns };
  const roleNames = { ...names, ApproverGroup: texts.groupApproves };
  return (
    <fieldset style={{ '--p': page.colourOf(person) }}>
      <legend>
        {acts(person) && <span class="swatch" />} {kind === '' ? number : `${number}: ${kind}`}
      </legend>
      <div class="entries">
        <Field
          {...inputOf(props, 'name')}
          label={isOfGroup ? texts.groupName : texts.personName}
          dir="auto"
        />
        {!isOfGroup && <Field {...inputOf(props, 'email')} label={texts.mail} type="email" />}
        {!isOfGroup && (!page.isTemplate || person.email !== '') && (
          <LanguageField page={page} person={person} index={index} />
        )}
        {acts(person) && (
          <div class="field">
            <label for={`person-${index}-role`}>{texts.role}</label>
            <select
              id={`person-${index}-role`}
              name="role"
              value={person.role}
              onChange={({ currentTarget }) =>
                page.change(() => {
                  person.role = currentTarget.value as PersonRole;
                })
              }
            >
              {ROLES[isOfGroup ? 'group' : 'person'].map((role) => (
                <option key={role} value={role}>
                  {roleNames[role]}
                </option>
              ))}
            </select>
          </div>
        )}
        {isOfGroup && (
          <NumberField {...props} name="needed" label={texts.groupNeeded} least={1} most={MAX_PEOPLE} />
        )}
        {acts(person) && (
          <NumberField {...props} name="step" label={texts.order} least={0} most={MAX_PEOPLE} />
        )}
        {acts(person) && !isOfGroup && (page.isTemplate || person.title !== '') && (
          <Field {...inputOf(props, 'title')} label={templates.role} dir="auto" />
        )}
      </div>
      {isOfGroup && <Members {...props} />}
      {signs(person) && <Tick {...props} name="electronic" label={texts.electronic} />}
      {acts(person) && !isOfGroup && <Tick {...props} name="passable" label={texts.passable} />}
      {isOfGroup && <Tick {...props} name="continues" label={texts.groupContinues} />}
      <div class="ways">
        <Button
          id={`person-${index}-up`}
          rank="quiet"
          icon="arrow-up"
          label={filled(texts.moveUp, { name: number })}
          disabled={index === 0}
          onClick={() => page.movePerson(index, -1)}
        />
        <Button
          id={`person-${index}-down`}
          rank="quiet"
          icon="arrow-down"
          label={filled(texts.moveDown, { name: number })}
          disabled={index === page.people.length - 1}
          onClick={() => page.movePerson(index, 1)}
        />
        <Button
          rank="quiet"
          icon="trash-2"
          label={filled(words.removePerson, { name: number })}
          onClick={() => page.removePerson(person)}
        />
      </div>
    </fieldset>
  );
}

function LanguageField({ page, person, index }: Omit<RowProps, 'templates'>) {
  const id = `person-${index}-language`;
  return (
    <div class="field">
      <label for={id}>{page.texts.personLanguage}</label>
      <select
        id={id}
        name="language"
        value={person.language}
        onChange={({ currentTarget }) =>
          page.change(() => {
            person.language = currentTarget.value;
          })
        }
      >
        <option value="">{page.texts.anyLanguage}</option>
        {LANGUAGE_NAMES.map(([language, name]) => (
          <option key={language} value={language} lang={language}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

function NumberField({
  page,
  person,
  index,
  name,
  label,
  least,
  most,
}: RowProps & { name: 'step' | 'needed'; label: string; least: number; most: number }) {
  return (
    <Field
      id={`person-${index}-${name}`}
      name={name}
      label={label}
      type="number"
      min={least}
      max={most}
      value={String(person[name])}
      onChange={({ currentTarget }) => {
        const number = Math.trunc(Number(currentTarget.value || '1'));
        page.change(() => {
          person[name] = Number.isFinite(number) ? Math.min(most, Math.max(least, number)) : least;
        });
      }}
    />
  );
}

function Tick({
  page,
  person,
  name,
  label,
}: RowProps & { name: 'electronic' | 'continues' | 'passable'; label: string }) {
  return (
    <label class="tick">
      <input
        name={name}
        type="checkbox"
        checked={person[name]}
        onChange={({ currentTarget }) =>
          page.change(() => {
            person[name] = currentTarget.checked;
          })
        }
      />{' '}
      {label}
    </label>
  );
}

/** Members of a group; lines of `Name <e-mail>` that are pasted become rows. */
function Members({ page, person, index }: RowProps) {
  const { texts, words } = page;
  const title = filled(words.person, { number: index + 1 });
  const focus = (member: number) => focusOn(`person-${index}-member-${member}-name`);
  const add = () => {
    if (person.members.length >= MAX_PEOPLE) {
      page.notice = { kind: 'bad', text: words.leftOut };
      page.show();
      return;
    }
    page.change(() => person.members.push(newMember()));
    focus(person.members.length - 1);
  };
  const paste = (event: ClipboardEvent, at: number) => {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    const member = person.members[at];
    if (member === undefined || (!text.includes('<') && !text.trim().includes('\n'))) return;
    event.preventDefault();
    const isFree = member.name === '' && member.email === '';
    const room = MAX_PEOPLE - person.members.length + (isFree ? 1 : 0);
    const { members: pasted, isWhole } = pastedMembers(text, room);
    page.notice = isWhole ? undefined : { kind: 'bad', text: words.leftOut };
    if (pasted.length > 0)
      page.change(() => person.members.splice(isFree ? at : at + 1, isFree ? 1 : 0, ...pasted));
    else page.show();
    focus(pasted.length === 0 ? at : at + pasted.length - (isFree ? 1 : 0));
  };
  const remove = (member: GroupMember) => {
    page.notice = undefined;
    page.change(() => {
      person.members = person.members.filter((other) => other !== member);
    });
    focusOn(`person-${index}-add-member`);
  };
  const error = page.errorOf(`person-${index}-member-0-name`);
  return (
    <div class="members">
      <p class="hint">{texts.groupMembersHint}</p>
      <ol class="rows" aria-label={texts.groupMembers}>
        {person.members.map((member, at) => {
          const label = `${title}, ${filled(words.member, { number: at + 1 })}`;
          return (
            <li key={at}>
              <fieldset class="member" aria-label={label}>
                {(['name', 'email'] as const).map((part) => {
                  const id = `person-${index}-member-${at}-${part}`;
                  return (
                    <div class="field" key={part}>
                      <label for={id}>{part === 'name' ? texts.personName : texts.mail}</label>
                      <input
                        id={id}
                        data-part={part}
                        type={part === 'name' ? 'text' : 'email'}
                        dir={part === 'name' ? 'auto' : undefined}
                        maxlength={part === 'name' ? 200 : 254}
                        aria-invalid={error !== undefined && at === 0 ? 'true' : undefined}
                        value={member[part]}
                        onInput={({ currentTarget }) => {
                          page.corrected(`person-${index}-member-0-name`);
                          page.change(() => {
                            member[part] = currentTarget.value;
                          }, id);
                        }}
                        onPaste={(event) => paste(event, at)}
                      />
                    </div>
                  );
                })}
                <Button
                  rank="quiet"
                  icon="trash-2"
                  label={filled(words.removePerson, { name: label })}
                  onClick={() => remove(member)}
                />
              </fieldset>
            </li>
          );
        })}
      </ol>
      {error && <p class="error">{error}</p>}
      <Button id={`person-${index}-add-member`} icon="plus" onClick={add}>
        {texts.addMember}
      </Button>
    </div>
  );
}
