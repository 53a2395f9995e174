/** Properties of the chosen field: its person, label, rule and value. */
import { FIELD_FORMATS } from '../../../../contracts/portal/words.ts';
import { Button, Field } from '../../../components/controls.tsx';
import { filled } from '../../../pages/portal/texts.ts';
import { canHave, MAX_LABEL, madeLabels, type PlacedItem, readOptions } from './editor-model.ts';
import type { EditorPage } from './editor-page.ts';
import type { PageBoxes } from './page-boxes.tsx';

interface Props {
  readonly page: EditorPage;
  readonly boxes: PageBoxes;
}

export function FieldProperties({ page, boxes }: Props) {
  const { texts, words, selected: item } = page;
  const owner = item && page.ownerOf(item);
  if (item === undefined || owner === undefined)
    return (
      <section aria-label={texts.properties}>
        <p class="hint">{texts.chooseField}</p>
        <p class="hint">{texts.keys}</p>
      </section>
    );
  const isMark = item.kind === 'Signature' || item.kind === 'SignatureInitials';
  const remove = () => {
    page.removeItem(item);
    document.getElementById(`add-${item.kind}`)?.focus();
  };
  const personError = page.errorOf('item-person');
  return (
    <section id="properties" aria-labelledby="properties-title">
      <div class="row head">
        <h3 id="properties-title" class="grow">
          {words.kinds[item.kind]}
        </h3>
        <Button rank="quiet" icon="trash-2" label={texts.removeField} onClick={remove} />
        <Button
          rank="quiet"
          icon="x"
          label={texts.closeField}
          onClick={() => {
            page.selected = undefined;
            page.show();
            document.getElementById(`add-${item.kind}`)?.focus();
          }}
        />
      </div>
      {!isMark && (
        <Field
          id="item-label"
          label={texts.labelSeen}
          dir="auto"
          maxlength={MAX_LABEL}
          placeholder={madeLabels(page.people, owner, words).get(item)}
          value={item.label}
          onInput={({ currentTarget }) =>
            page.change(() => {
              item.label = currentTarget.value;
            }, `label ${item.key}`)
          }
        />
      )}
      <div class="field">
        <label for="item-person">{texts.whoFills}</label>
        <select
          id="item-person"
          aria-invalid={personError === undefined ? undefined : 'true'}
          value={String(page.people.indexOf(owner))}
          onChange={({ currentTarget }) => {
            const person = page.people[Number(currentTarget.value)];
            if (person !== undefined) page.giveItem(item, person);
          }}
        >
          {page.people.map(
            (person, index) =>
              (person === owner || canHave(person, item.kind)) && (
                <option key={index} value={String(index)}>
                  {page.nameOf(person)}
                </option>
              ),
          )}
        </select>
        {personError && <p class="error">{personError}</p>}
      </div>
      {!isMark && <Content page={page} item={item} name={page.nameOf(owner)} />}
      <div class="ways">
        {boxes.count > 1 && <Button onClick={() => boxes.copyToAll(item)}>{texts.copyToAll}</Button>}
        <Button icon="copy" onClick={() => boxes.duplicate(item)}>
          {texts.duplicate}
        </Button>
      </div>
    </section>
  );
}

function Content({ page, item, name }: { page: EditorPage; item: PlacedItem; name: string }) {
  const { texts, words } = page;
  const optionsError = page.errorOf('item-options');
  return (
    <>
      <label class="tick">
        <input
          id="item-required"
          type="checkbox"
          checked={item.required}
          onChange={({ currentTarget }) =>
            page.change(() => {
              item.required = currentTarget.checked;
            })
          }
        />{' '}
        {words.required}
      </label>
      {item.kind === 'Choice' && (
        <div class="field">
          <label for="item-options">{words.options}</label>
          <textarea
            id="item-options"
            rows={3}
            maxlength={20_000}
            aria-invalid={optionsError === undefined ? undefined : 'true'}
            value={item.options}
            onInput={({ currentTarget }) => {
              page.corrected('item-options');
              page.change(() => {
                item.options = currentTarget.value;
              }, `options ${item.key}`);
            }}
          />
          {optionsError && <p class="error">{optionsError}</p>}
        </div>
      )}
      {item.kind === 'Text' && (
        <div class="field">
          <label for="item-format">{texts.format}</label>
          <select
            id="item-format"
            value={item.format}
            onChange={({ currentTarget }) =>
              page.change(() => {
                item.format = currentTarget.value;
              })
            }
          >
            <option value="">{texts.formats.any}</option>
            {FIELD_FORMATS.map((format) => (
              <option key={format} value={format}>
                {texts.formats[format]}
              </option>
            ))}
          </select>
        </div>
      )}
      <Value page={page} item={item} name={name} />
    </>
  );
}

/** Input for a value that the sender fills in already. */
function Value({ page, item, name }: Parameters<typeof Content>[0]) {
  const { texts } = page;
  const set = (value: string) =>
    page.change(() => {
      item.value = value;
    }, `value ${item.key}`);
  if (item.kind === 'Attachment' || item.kind === 'Initials') return null;
  if (item.kind === 'Checkbox')
    return (
      <label class="tick">
        <input
          id="item-value"
          type="checkbox"
          checked={item.value === 'true'}
          onChange={({ currentTarget }) => set(currentTarget.checked ? 'true' : '')}
        />{' '}
        {texts.ticked}
      </label>
    );
  if (item.kind === 'Choice')
    return (
      <div class="field">
        <label for="item-value">{texts.value}</label>
        <select id="item-value" value={item.value} onChange={({ currentTarget }) => set(currentTarget.value)}>
          <option value="">{texts.noValue}</option>
          {readOptions(item.options).map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      </div>
    );
  const type = item.kind === 'Date' ? 'date' : item.kind === 'Number' ? 'number' : 'text';
  return (
    <Field
      id="item-value"
      label={texts.value}
      type={type}
      step={type === 'number' ? 'any' : undefined}
      dir="auto"
      maxlength={500}
      placeholder={filled(texts.valueEmpty, { name })}
      value={item.value}
      onInput={({ currentTarget }) => set(currentTarget.value)}
    />
  );
}
