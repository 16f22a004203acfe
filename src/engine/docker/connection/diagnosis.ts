import { HumanError } from '../../../domain/work';
import type { EngineAddress } from './engineAddress';
import { engineText, permissionAdvice } from './engineProblem';

interface Diagnosis {
  readonly what: string;
  readonly next: string;
  /** Whether nothing listens at the address at all. */
  readonly absent: boolean;
}

/** Explains why no engine answered at an address, and what to do about it. */
export function diagnosis(error: unknown, address: EngineAddress): Diagnosis {
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  const found = (what: string, next: string, absent = false): Diagnosis => ({ what, next, absent });
  const text = engineText(error);
  const start = 'Start Docker Desktop, or run sudo systemctl start docker or podman system service';
  if (error instanceof HumanError) return found(error.what, error.next ?? start);
  if (code === 'ENOENT') {
    return found('the socket does not exist', `Start the engine, or use another one`, true);
  }
  if (code === 'EACCES' || code === 'EPERM') return found('permission denied', permissionAdvice);
  if (code === 'ECONNREFUSED') return found('connection refused; the engine is not running', start);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return found('the host is unknown', 'Check the name and the network');
  }
  if (/HTTP request to an HTTPS server/i.test(text)) {
    return found(
      'it requires TLS',
      'Set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH to the folder with ca.pem, cert.pem, key.pem',
    );
  }
  if (typeof code === 'string' && /CERT|^ERR_(SSL|TLS|OSSL)|^EPROTO$|SIGNATURE|ISSUER/.test(code)) {
    return found(
      `TLS failed: ${text}`,
      address.kind === 'tcp' && address.tls?.cert === undefined
        ? 'Put its ca.pem, cert.pem and key.pem into the folder DOCKER_CERT_PATH'
        : 'Check that ca.pem, cert.pem and key.pem belong to this engine and have not expired',
    );
  }
  if (statusCode === 401 || statusCode === 403) {
    return found(`access denied: ${text}`, permissionAdvice);
  }
  if (typeof code === 'string') return found(text, start);
  return found(text, "Check the engine's log");
}
