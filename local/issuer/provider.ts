/** oidc-provider, configured as a Cognito user pool: its paths, its claims, its /logout, and a sign-in page. */
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { Provider, errors, type Configuration, type InteractionResults } from 'oidc-provider';
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';
import type { SigningKey } from '../../lib/issuer-keys.ts';
import { contentSecurityPolicy, messagePage, settingsPage, signInPage } from './pages.ts';
import {
  CLIENT_ID,
  subOf,
  TOKEN_LIFETIME,
  userClaims,
  type User,
} from '../../lib/issuer-tokens.ts';

type Context = Parameters<Parameters<Provider['use']>[0]>[0];

const ROUTES = {
  authorization: '/oauth2/authorize',
  token: '/oauth2/token',
  userinfo: '/oauth2/userInfo',
  jwks: '/.well-known/jwks.json',
};
const LOGOUT = '/logout';
const MONTH = 30 * 86_400; // Cognito's default lifetime of a refresh token

/** As browsers check `type=email`: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;

/**
 * Creates the Koa app. Sessions, codes and refresh tokens are kept in memory.
 *
 * @param url - The issuer's origin; requests with another Host get 421.
 * @param origins - Origins of the web apps, see `startIssuer`.
 */
export function createProvider(url: string, key: SigningKey, origins: readonly string[]): Provider {
  const { host, port } = new URL(url);
  const homes = origins.map((origin) => `${origin}/`);
  const registered = {
    redirectUris: homes.flatMap((home) => [home, `${home}callback`]),
    logoutUris: homes,
  };
  const users = new Map<string, User>();

  const configuration: Configuration = {
    adapter: createMemoryAdapter(),
    jwks: { keys: [key] },
    clients: [
      {
        client_id: CLIENT_ID,
        token_endpoint_auth_method: 'none', // a public client: oidc-provider then requires PKCE with S256
        grant_types: homes.length > 0 ? ['authorization_code', 'refresh_token'] : [],
        response_types: homes.length > 0 ? ['code'] : [],
        redirect_uris: registered.redirectUris,
      },
    ],
    clientAuthMethods: ['none'],
    clientBasedCORS: (_ctx, origin) => origins.includes(origin),
    responseTypes: ['code'],
    // As in Cognito, scope openid alone gives every claim.
    claims: {
      openid: [...Object.keys(userClaims({ sub: '', email: '' }, '')), 'auth_time'],
      email: ['email', 'email_verified'],
      profile: ['cognito:username'],
    },
    findAccount: (_ctx, sub, source) => {
      const user = users.get(sub);
      if (!user) return undefined;
      const signIn = source !== undefined && 'grantId' in source ? String(source.grantId) : sub;
      const claims = userClaims(user, signIn);
      const { email, email_verified } = claims;
      return {
        accountId: sub,
        claims: (use) => (use === 'userinfo' ? { sub, email, email_verified } : claims),
      };
    },
    // Grants every scope, so that no consent screen is shown.
    loadExistingGrant: async ({ oidc }) => {
      const clientId = oidc.client?.clientId ?? '';
      const known = await oidc.provider.Grant.find(oidc.session?.grantIdFor(clientId) ?? '');
      if (known) return known;
      const grant = new oidc.provider.Grant({ accountId: oidc.account?.accountId, clientId });
      grant.addOIDCScope('openid email profile offline_access');
      await grant.save();
      return grant;
    },
    issueRefreshToken: () => true, // Cognito does not ask for scope offline_access
    cookies: {
      keys: [randomBytes(32).toString('base64url')],
      // Cookies are shared by all ports of a host: names with the port keep two stacks apart.
      names: { session: `issuer_${port}`, interaction: `step_${port}`, resume: `resume_${port}` },
    },
    // All set, because oidc-provider prints a notice for each default it uses.
    ttl: {
      AccessToken: TOKEN_LIFETIME,
      AuthorizationCode: 60,
      IdToken: TOKEN_LIFETIME,
      Interaction: TOKEN_LIFETIME,
      Grant: MONTH,
      RefreshToken: MONTH,
      Session: MONTH,
    },
    routes: ROUTES,
    discovery: { end_session_endpoint: url + LOGOUT },
    interactions: { url: (_ctx, { uid }) => `/sign-in/${uid}` },
    // Without openid there would be no ID token, which is the token that the API asks for.
    extraParams: {
      scope(_ctx, scope = '') {
        if (scope.split(' ').includes('openid')) return;
        throw new errors.InvalidScope(`scope must contain openid, it is "${scope}"`, scope);
      },
    },
    // The settings, to which the page leads, name the client and the redirect addresses.
    renderError: (ctx, { error, error_description: description = '' }) =>
      show(ctx, ctx.status, messagePage(error, description)),
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      rpInitiatedLogout: { enabled: false }, // asks for a confirmation; `logout` below does not
    },
  };
  const provider = new Provider(url, configuration);

  const signIn = async (ctx: Context): Promise<void> => {
    const { params, prompt } = await provider.interactionDetails(ctx.req, ctx.res);
    const finish = async (result: InteractionResults) =>
      redirect(ctx, await provider.interactionResult(ctx.req, ctx.res, result));
    if (prompt.name === 'consent') return finish({ consent: {} }); // for prompt=consent only
    const form = ctx.method === 'POST' ? new URLSearchParams(await text(ctx.req)) : undefined;
    if (form?.has('cancel')) {
      return finish({ error: 'access_denied', error_description: 'The sign-in was cancelled.' });
    }
    const email = form?.get('email')?.trim() ?? '';
    if (EMAIL.test(email)) {
      const sub = subOf(email);
      users.set(sub, { sub, email });
      return finish({ login: { accountId: sub } });
    }
    const hint = typeof params['login_hint'] === 'string' ? params['login_hint'] : '';
    const { origin, host: returnTo } = new URL(String(params['redirect_uri']));
    const page = signInPage({
      action: ctx.path,
      returnTo,
      email: form ? email : hint,
      problem:
        form &&
        `${email ? `“${email}” is not` : 'Type'} an e-mail address, such as you@example.com.`,
    });
    return show(ctx, form ? 400 : 200, page, origin);
  };

  /**
   * Cognito's /logout, and the end_session_endpoint of OpenID Connect RP-Initiated Logout 1.0 without confirmation.
   * https://docs.aws.amazon.com/cognito/latest/developerguide/logout-endpoint.html
   */
  const logout = async (ctx: Context): Promise<void> => {
    const {
      client_id,
      post_logout_redirect_uri,
      logout_uri = post_logout_redirect_uri,
      state,
    } = ctx.query;
    const refuse = (reason: string) => show(ctx, 400, messagePage('Not signed out', reason));
    if (client_id !== CLIENT_ID) return refuse(`client_id must be ${CLIENT_ID}.`);
    if (typeof logout_uri !== 'string' || !homes.includes(logout_uri)) {
      return refuse(`logout_uri must be one of: ${homes.join(', ')}`);
    }
    const session = await provider.Session.get(ctx);
    await session.destroy(); // its refresh tokens are then refused, too
    ctx.cookies.set(provider.cookieName('session'), null, { overwrite: true });
    const target = new URL(logout_uri);
    if (typeof state === 'string') target.searchParams.set('state', state);
    return redirect(ctx, target.href);
  };

  provider.use(async (ctx, next) => {
    // Protects the sign-in from DNS rebinding.
    if (ctx.host !== host) {
      ctx.status = 421;
      ctx.body = `This issuer is ${url}\n`;
      return undefined;
    }
    if (ctx.path === '/') return show(ctx, 200, settingsPage(url, registered));
    if (ctx.path === LOGOUT) return logout(ctx);
    if (!ctx.path.startsWith('/sign-in/')) {
      await next();
      if (ctx.status === 404 && ctx.body === undefined) {
        show(ctx, 404, messagePage('Page not found', 'The issuer has no page at this address.'));
      }
      return undefined;
    }
    return signIn(ctx).catch((error: unknown) => {
      if (!(error instanceof errors.SessionNotFound)) throw error;
      show(
        ctx,
        400,
        messagePage('Sign-in expired', 'Go back to the application and sign in from there.'),
      );
    });
  });
  // The response is only `server_error`; the cause is a defect in this file.
  provider.on('server_error', (_ctx, error) => process.stderr.write(`issuer: ${error.stack}\n`));
  return provider;
}

function show(ctx: Context, status: number, html: string, ...formTargets: string[]): void {
  ctx.set({
    'cache-control': 'no-store',
    'content-security-policy': contentSecurityPolicy(...formTargets),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  Object.assign(ctx, { status, type: 'html', body: html });
}

function redirect(ctx: Context, target: string): void {
  ctx.set('cache-control', 'no-store');
  ctx.status = 303;
  ctx.redirect(target);
}
