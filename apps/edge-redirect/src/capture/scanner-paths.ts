/**
 * Whether a slug is the path of a file that scanners ask every host for: of WordPress and its kin, of what was left
 * in a web root. It matters only where there is a link of that name; without one, nothing is counted anyway.
 */
export function isScannerPath(slug: string): boolean {
  return scanned.test(slug);
}

const scanned =
  /(?:^|\/)(?:\.(?:env|git|svn|hg|aws|ssh|DS_Store|htaccess|htpasswd)|wp-(?:admin|login|content|includes|config|json)|wordpress|xmlrpc\.php|phpmyadmin|phpunit|cgi-bin|actuator|server-status|vendor\/)|\.(?:php\d?|aspx?|jspx?|cgi|env|bak|sql|ini)$/i;
