/** Page for an unknown path of the operator pages. */
import { ButtonLink } from '../../components/controls.tsx';
import { openPage } from './login.tsx';

/** @param path as requested */
export function notFoundPage(path: string): string {
  return openPage(
    'Page not found - sealwright',
    <>
      <h1>Page not found</h1>
      <p>
        This service has no page at <code>{path.slice(0, 200)}</code>. Check the address.
      </p>
      <p class="ways">
        <ButtonLink href="/" rank="main">
          Open the overview
        </ButtonLink>
      </p>
    </>,
  );
}
