CREATE TABLE `edge`.`st"a``te` (
  `source` varchar(400) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `row_key` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  `namespace` text CHARACTER SET utf8mb4 NOT NULL,
  `name` text CHARACTER SET utf8mb4 NOT NULL,
  `state` text CHARACTER SET utf8mb4 NOT NULL,
  `ready` boolean NOT NULL,
  `reason` text CHARACTER SET utf8mb4 NOT NULL,
  `message` text CHARACTER SET utf8mb4 NOT NULL,
  `domains` json NOT NULL,
  `dns_target` text CHARACTER SET utf8mb4 NOT NULL,
  `tenant_id` text CHARACTER SET utf8mb4 NOT NULL,
  `certificate_expires` datetime NULL,
  `generation` bigint NOT NULL,
  `revision` text CHARACTER SET utf8mb4 NOT NULL,
  `since` datetime NULL,
  `version` bigint NOT NULL,
  `updated` datetime NOT NULL,
  PRIMARY KEY (`source`, `row_key`)
);

SELECT `source`, `row_key`, `namespace`, `name`, `state`, `ready`, `reason`, `message`, `domains`, `dns_target`, `tenant_id`, `certificate_expires`, `generation`, `revision`, `since`, `version`, `updated` FROM `edge`.`st"a``te`

INSERT INTO `edge`.`st"a``te` (`source`, `row_key`, `namespace`, `name`, `state`, `ready`, `reason`, `message`, `domains`, `dns_target`, `tenant_id`, `certificate_expires`, `generation`, `revision`, `since`, `version`, `updated`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE `namespace` = IF(VALUES(`version`) >= `version`, VALUES(`namespace`), `namespace`), `name` = IF(VALUES(`version`) >= `version`, VALUES(`name`), `name`), `state` = IF(VALUES(`version`) >= `version`, VALUES(`state`), `state`), `ready` = IF(VALUES(`version`) >= `version`, VALUES(`ready`), `ready`), `reason` = IF(VALUES(`version`) >= `version`, VALUES(`reason`), `reason`), `message` = IF(VALUES(`version`) >= `version`, VALUES(`message`), `message`), `domains` = IF(VALUES(`version`) >= `version`, VALUES(`domains`), `domains`), `dns_target` = IF(VALUES(`version`) >= `version`, VALUES(`dns_target`), `dns_target`), `tenant_id` = IF(VALUES(`version`) >= `version`, VALUES(`tenant_id`), `tenant_id`), `certificate_expires` = IF(VALUES(`version`) >= `version`, VALUES(`certificate_expires`), `certificate_expires`), `generation` = IF(VALUES(`version`) >= `version`, VALUES(`generation`), `generation`), `revision` = IF(VALUES(`version`) >= `version`, VALUES(`revision`), `revision`), `since` = IF(VALUES(`version`) >= `version`, VALUES(`since`), `since`), `updated` = IF(VALUES(`version`) >= `version`, VALUES(`updated`), `updated`), `version` = IF(VALUES(`version`) >= `version`, VALUES(`version`), `version`)

DELETE FROM `edge`.`st"a``te` WHERE `source` = ? AND `row_key` = ? AND `version` <= ?
