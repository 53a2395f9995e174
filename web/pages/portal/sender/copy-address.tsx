/** The address of a link for anybody, with a button that copies it. */
import { Button, Field } from '../../../components/controls.tsx';

export interface CopyProps {
  readonly url: string;
  readonly texts: { readonly address: string; readonly copy: string };
  /** Absent until the page is live. */
  readonly copy?: (url: string) => void;
}

export function CopyAddress({ url, texts, copy }: CopyProps) {
  return (
    <>
      <Field
        id="address"
        label={texts.address}
        readOnly
        value={url}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      {copy !== undefined && (
        <p class="ways">
          <Button rank="main" icon="copy" onClick={() => copy(url)}>
            {texts.copy}
          </Button>
        </p>
      )}
    </>
  );
}
