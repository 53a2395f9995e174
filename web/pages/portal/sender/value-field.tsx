import type { NewField } from '../../../../contracts/portal/flow.ts';
import { Field, Select } from '../../../components/controls.tsx';

/** An input for a value of the sender. */
export function ValueField({
  required,
  field: { name, label, type, readOnly, value, options, maxLength, minimum, maximum },
  id,
  values,
  error,
}: {
  /** Text beside a field that needs a value. */
  required: string;
  field: Pick<
    NewField,
    'name' | 'label' | 'type' | 'readOnly' | 'value' | 'options' | 'maxLength' | 'minimum' | 'maximum'
  >;
  id: string;
  values: Readonly<Record<string, string>>;
  /** Says what is wrong with the value. */
  error?: string | undefined;
}) {
  const given = values[id] ?? (value === null || value === undefined ? '' : String(value));
  const text = <bdi>{label?.trim() || name}</bdi>;
  if (type === 'Checkbox')
    return (
      <p>
        <label class="tick">
          <input type="checkbox" name={id} value="true" checked={given === 'true'} /> {text}
        </label>
      </p>
    );
  // The participant could not fill it.
  const needed = readOnly === true;
  const parts = {
    id,
    name: id,
    error,
    required: needed,
    value: given,
    label: needed ? (
      <>
        {text} <span class="hint">({required})</span>
      </>
    ) : (
      text
    ),
  };
  if (type === 'Choice')
    return <Select {...parts} options={['', ...(options ?? [])].map((one) => [one, one] as const)} />;
  if (type === 'Number')
    return (
      <Field {...parts} type="number" step="any" min={minimum ?? undefined} max={maximum ?? undefined} />
    );
  if (type === 'Date') return <Field {...parts} type="date" />;
  return <Field {...parts} type="text" maxLength={maxLength ?? 500} />;
}
