import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { InquiryForm, InquiryFormAttributes } from './inquiry-form.js';

export * from './inquiry-form.js';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'inquiry-form': InquiryFormAttributes &
        DetailedHTMLProps<HTMLAttributes<InquiryForm>, InquiryForm>;
    }
  }
}
